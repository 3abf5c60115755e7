//! As much of JSON Schema as the schemas in this project use. An unknown keyword fails the test, so none goes unchecked.

use regex::Regex;
use serde_json::Value;

pub struct Schema(Value);

impl Schema {
    pub fn parse(text: &str) -> Self {
        Schema(serde_json::from_str(text).unwrap())
    }

    pub fn json(&self) -> &Value {
        &self.0
    }

    pub fn accepts(&self, value: &Value) -> bool {
        self.check(&self.0, value)
    }

    fn check(&self, schema: &Value, value: &Value) -> bool {
        let rules = schema.as_object().expect("a schema is an object");
        rules.iter().all(|(keyword, rule)| self.rule(keyword, rule, schema, value))
    }

    fn all_items(&self, rule: &Value, value: &Value) -> bool {
        value.as_array().is_none_or(|items| items.iter().all(|item| self.check(rule, item)))
    }

    fn rule(&self, keyword: &str, rule: &Value, schema: &Value, value: &Value) -> bool {
        let size = || rule.as_u64().unwrap() as usize;
        match keyword {
            "$schema" | "$defs" | "title" | "description" | "default" => true,
            "$ref" => {
                let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                self.check(self.0.pointer(pointer).expect("the reference leads somewhere"), value)
            }
            "type" => match rule.as_str().unwrap() {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_i64() || value.is_u64(),
                other => panic!("unknown type {other}"),
            },
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "anyOf" => rule.as_array().unwrap().iter().any(|option| self.check(option, value)),
            "not" => !self.check(rule, value),
            "required" => value.as_object().is_none_or(|object| {
                rule.as_array().unwrap().iter().all(|name| object.contains_key(name.as_str().unwrap()))
            }),
            "properties" => value.as_object().is_none_or(|object| {
                let rules = rule.as_object().unwrap();
                rules.iter().all(|(name, rule)| object.get(name).is_none_or(|value| self.check(rule, value)))
            }),
            "additionalProperties" => {
                assert_eq!(rule, &Value::Bool(false));
                let known = schema["properties"].as_object().unwrap();
                value.as_object().is_none_or(|object| object.keys().all(|name| known.contains_key(name)))
            }
            "items" => self.all_items(rule, value),
            "minItems" => value.as_array().is_none_or(|items| items.len() >= size()),
            "maxItems" => value.as_array().is_none_or(|items| items.len() <= size()),
            "uniqueItems" => value.as_array().is_none_or(|items| {
                let texts: std::collections::BTreeSet<_> = items.iter().map(Value::to_string).collect();
                texts.len() == items.len()
            }),
            "pattern" => value.as_str().is_none_or(|text| Regex::new(rule.as_str().unwrap()).unwrap().is_match(text)),
            "maxLength" => value.as_str().is_none_or(|text| text.chars().count() <= size()),
            "minimum" => {
                value.as_number().is_none_or(|number| number.as_u64().is_some_and(|n| n >= rule.as_u64().unwrap()))
            }
            "maximum" => value.as_number().is_none_or(|number| {
                number.as_i64().is_some_and(|n| n < 0) || number.as_u64().is_some_and(|n| n <= rule.as_u64().unwrap())
            }),
            other => panic!("the keyword {other} is not checked by this test"),
        }
    }
}
