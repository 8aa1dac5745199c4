"""python conformance-vectors/mutation: see proof.py."""

import sys

from proof import main

sys.exit(main())
