import sys, builtins


class _Block:
    def find_spec(self, name, path=None, target=None):
        if name == "bayleaf" or name.startswith("bayleaf."):
            others = [
                f
                for f in sys.meta_path
                if f is not self
                and "Redirect" not in type(f).__name__
                and "editable" not in type(f).__module__
                and "skbuild" not in type(f).__module__.lower()
                and "Scikit" not in type(f).__name__
            ]
            for f in others:
                s = f.find_spec(name, path, target)
                if s:
                    return s
        return None


sys.meta_path.insert(0, _Block())
