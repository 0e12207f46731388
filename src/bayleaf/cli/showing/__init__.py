"""What commands show: answers, pictures, consoles and progress."""
