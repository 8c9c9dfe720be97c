"""What people bring: files, frames and a project file, turned into streams of typed facts."""
