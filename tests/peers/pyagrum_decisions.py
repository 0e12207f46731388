"""Print the highest expected utility of each named file, by pyAgrum.

A file that does not exist is first written, with random numbers. A program of its own:
pyAgrum 3.3.1 crashes with influence diagrams where pyarrow is loaded.
"""

from __future__ import annotations

import os
import sys

import pyagrum as gum

ARCS = (
    "*test{yes|no}->result{a|b|c}<-oil{dry|wet|soaking}->$gain<-*drill{go|stop}<-result"
    ";test->$cost;test->drill;oil->late{x|y}<-drill;late->$gain"
)
kept = []
for path in sys.argv[1:]:
    if not os.path.exists(path):
        gum.initRandom(3)
        gum.fastID(ARCS).saveBIFXML(path)
    model = gum.InfluenceDiagram()
    model.loadBIFXML(path)
    engine = gum.ShaferShenoyLIMIDInference(model)
    order = [n for n in model.topologicalOrder() if model.isDecisionNode(n)]
    engine.addNoForgettingAssumption([model.variable(n).name() for n in order])
    engine.makeInference()
    print(repr(engine.MEU()["mean"]), flush=True)
    kept.append((model, engine))
# Inferences that are removed after their diagrams crash as well.
os._exit(0)
