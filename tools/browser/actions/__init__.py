"""What the browser can do, in files by kind; `dispatch` has them all by name."""
