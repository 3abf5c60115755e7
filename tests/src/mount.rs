//! Small file systems that fill up or cannot be written, mounted for one test.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A mounted folder, unmounted when dropped. Mounting needs root, or `sudo` that asks nothing.
pub struct Mount {
    at: PathBuf,
    _keep: TempDir,
}

impl Mount {
    /// A file system in memory of this size.
    ///
    /// # Panics
    ///
    /// Where none can be mounted: a test that cannot run has not passed.
    pub fn of_kib(size: u32) -> Mount {
        let mount = Mount::point();
        as_root("mount", &["-t", "tmpfs", "-o", &format!("size={size}k,mode=0777"), "tmpfs"], &mount.at);
        mount
    }

    /// The same files at another place, where they cannot be written.
    ///
    /// # Panics
    ///
    /// As [`Mount::of_kib`].
    pub fn read_only_view(folder: &Path) -> Mount {
        let view = Mount::point();
        as_root("mount", &["--bind", &folder.display().to_string()], &view.at);
        as_root("mount", &["-o", "remount,bind,ro"], &view.at);
        view
    }

    fn point() -> Mount {
        let keep = TempDir::new().expect("a folder to mount on");
        Mount { at: keep.path().to_path_buf(), _keep: keep }
    }

    /// Takes all room but for a few pages.
    ///
    /// # Panics
    ///
    /// Where nothing can be written at all.
    pub fn fill(&self) {
        let mut file = File::create(self.ballast()).expect("a file on the mount");
        let mut size = 64 << 10;
        while size >= 4 << 10 {
            match file.write_all(&vec![7; size]) {
                Ok(()) => {}
                Err(_) => size /= 2,
            }
        }
    }

    /// Gives the room back.
    ///
    /// # Panics
    ///
    /// Where it was not taken.
    pub fn make_room(&self) {
        std::fs::remove_file(self.ballast()).expect("the room was taken");
    }

    fn ballast(&self) -> PathBuf {
        self.at.join("ballast")
    }

    /// The folder.
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
