"""Ablations: what each of truant's choices is worth. A study and its reading are two files: z.toml and z.md."""
