//! Small file systems that fill up or cannot be written, mounted for one test. Mounting needs root, or `sudo` that asks
//! nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A mounted folder, unmounted when dropped.
pub struct Mount {
    at: PathBuf,
    _keep: TempDir,
}

impl Mount {
    /// A file system in memory of this size.
    pub fn of_kib(size: u32) -> Mount {
        let mount = Mount::point();
        as_root("mount", &["-t", "tmpfs", "-o", &format!("size={size}k,mode=0777"), "tmpfs"], &mount.at);
        mount
    }

    /// The same files at another place, where they cannot be written.
    pub fn read_only_view(folder: &Path) -> Mount {
        let view = Mount::point();
        as_root("mount", &["--bind", &folder.display().to_string()], &view.at);
        as_root("mount", &["-o", "remount,bind,ro"], &view.at);
        view
    }

    fn point() -> Mount {
        let keep = TempDir::new().unwrap();
        Mount { at: keep.path().to_path_buf(), _keep: keep }
    }

    pub fn path(&self) -> &Path {
        &self.at
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = command("umount", &["--lazy"], &self.at).status();
    }
}

fn command(program: &str, arguments: &[&str], at: &Path) -> Command {
    let mut command = if rustix::process::geteuid().is_root() {
        Command::new(program)
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["--non-interactive", program]);
        sudo
    };
    command.args(arguments).arg(at);
    command
}

fn as_root(program: &str, arguments: &[&str], at: &Path) {
    let done = command(program, arguments, at).output();
    let said = done.map(|done| (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned()));
    assert!(matches!(said, Ok((true, _))), "{program} {arguments:?} failed, this test needs root: {said:?}");
}
