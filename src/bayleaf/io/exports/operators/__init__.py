"""Models as graphs of operators, in the Open Neural Network Exchange's format."""
