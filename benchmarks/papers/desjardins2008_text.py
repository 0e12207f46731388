"""Prose of the page on desJardins, Rathod and Getoor (2008)."""

PROTOCOL = """Log-likelihood (nats, summed over the rows of a test fold), parameters and
arcs of density models on nursery, mushroom and adult. The full run is
`bayleaf reproduce desjardins2008 --data DIR --output docs/results`.

- **Rows.** Nursery 12 960 rows and 9 variables; the complete rows of mushroom, 5644
  and 23; the complete rows of adult, 45 222 and 13 (without `fnlwgt` and
  `education-num`). The class is a variable like any other.
- **Coding of adult.** Age 17-19, then steps of five years, and 75 or more; hours 1-19,
  20-34, 35-39, 40, 41-49, 50-59, 60 or more; capital gain none, below 5000, below
  10 000, more; capital loss none, below 1700, below 2000, more.
- **Methods.** All are `BayesianNetworkEstimator` with MDL and Laplace smoothing, under
  the paper's names: FLAT has tables, ABS tables over groups of values, TCPT trees, TABS
  trees over groups; -E takes the given hierarchies of values, -G learns one for each
  column, -L for each arc: -L1 once, when the parent enters, -Lf again whenever the
  child's parents change. "ABS-Lf, if better" goes beyond the paper: a hierarchy that is
  learned again is taken only where the score rises, which gives shorter descriptions
  than the paper's rule on all three sets. "hamming" is the paper's linkage,
  "information" the default here. "TCPT merged" makes decision graphs of the trees that
  were found: leaves share distributions (`merge_leaves=True`); the paper leaves that as
  future work. "Regrown" are searches beyond the paper, see below; all others over trees
  are the paper's (`tree_search="incremental"`).
- **Folds.** Rows are dealt into fifths with seed 0; every fifth is scored by networks
  of the other four. Of five restarts, the best by MDL counts; restart k draws from the
  seed (0, k).
- **Parameters** are counted as the paper counts them: states times rows of a table, or
  leaves of a tree, summed over variables."""

DERIVATION = """## The printed log-likelihoods cannot be those of a distribution

Let a model give the n rows of a fold the probabilities p(1), ..., p(n). If the rows all
differ, these add up to at most 1, so their mean is at most 1/n; the mean of the
logarithms is at most the logarithm of the mean, and the log-likelihood of the fold is
at most -n ln n. That is reached only by a model that spreads all its probability over
just those rows, none of which it has seen. The rows of nursery differ, and so do the
complete rows of mushroom: a fold has 2592 or 1129 rows, and the bounds are -20 374 and
-7936 nats. The paper prints -19 957 and -7839 for TABS-L.

Its other figures break a bound that is nearly as firm. Let N be the number of all rows,
training and test together. By the same argument the mean log probability over all N is
at most -ln N. A model that is no better on the rows of the fold than on those it was
learned from has a mean over the fold no larger than that over all rows, so the fold's
log-likelihood is at most -n ln N: -24 545 nats on nursery, -9753 on mushroom (-9744 for
its smallest fold). Every log-likelihood in table 1 is above its bound, by more than
1000 nats.

Rows of adult recur. A row that occurs c times in N has at best the probability c/N, and
the bounds become sums of c ln(c/n) over the distinct rows of the fold, about -79 800
nats, and n/N times the sum of c ln(c/N) over those of the table, -90 290 nats. They
depend on the coding, which the paper does not give in full; with the one above, all the
figures in table 1, -86 770 to -80 996, lie above the second bound as well, and so do
those in table 3.

What the paper computed instead cannot be told from its text. A product of conditional
distributions along arcs that form a cycle, for one, does not add up to 1. Here every
search keeps the graph acyclic and densities sum to 1. No fold of any method below is
above the second bound."""

ABOUT_VERDICTS = """Tables 1 and 2 with five folds and five restarts, tables 3 and 4
with more and more rows of adult. Standard deviations are those over folds, which the
column "seeds" counts; the paper has them for log-likelihoods of tables 1 and 2 alone.
Fewer parameters, and more arcs, count as better, as in the paper: its trees and groups
are to say more with less. That most networks here have fewer parameters, and trees
fewer arcs, says little of them: the paper's searches weighed arcs by likelihoods that
are none, and its coding of adult, which sets how many parameters an arc costs, is not
given in full."""

ABOUT_TARGETS = """Log-likelihood / parameters / arcs, means over folds, beside the
figures that were measured before with the same hierarchies of values: best of 5, 3 and
2 restarts, over 5, 3 and 2 folds of nursery, mushroom and adult. The deal behind those
is not known. A log-likelihood more than 1 % below the expected one is marked as below;
the difference is in percent of the expected one."""

ABOUT_ORDERINGS = """Arcs are those of trees, with and without groups, over those of
FLAT; the ratios of TCPT to TABS-L are of parameters, and so is that of merged leaves.
TCPT is to beat FLAT; in the mean over the seeds 0 to 9 of the restarts, on which adult
depends, tree models are to have 1.4 to 2.7 times the arcs of FLAT, but for information
linkage on nursery, and TCPT at least 1.35 times the parameters of TABS-L; merged leaves
are to have at most half of TCPT's parameters on mushroom at no loss."""

ORDERINGS = """The orderings themselves hold everywhere, with both protocols and with
every seed below: TCPT is more likely than FLAT, trees have more arcs than tables, and
TABS-L has fewer parameters than TCPT. By how much:

- **TCPT beats FLAT** on every set: met.
- **Arcs**: met, in the mean over ten seeds. Left out are two cells of nursery, both
  with information linkage. There TABS-G has 7.8 arcs, hardly
  more than FLAT: every arc leads to the class, from seven or eight of the other
  variables, whose values the table combines in every way. Its log-likelihood is the
  best there. On fold 0 it has all eight; any ninth arc, each of the 56 required in
  turn, makes the description longer, by 11.7 bits or more, so that 1.4 times the arcs
  of FLAT is out of reach for a search that ends in an optimum. TABS-L has 21.4, 2.82
  times as many, and 22.4 where a better search shortens its description, see below.
  The figures expected of these two cells, 8 and 22 arcs to FLAT's 7.6, lie outside the
  bounds as well. With the seed of these tables TCPT has on adult 1.37 times the arcs of
  FLAT over two folds, 1.47 times over five, and 1.43 times in the mean over ten seeds,
  see below.
- **TCPT's parameters over TABS-L's**: met on nursery and mushroom, and on adult in the
  mean over ten seeds, see below. The seed of these tables is one of the
  few that fall short, with 1.34 over two folds; over five, with five restarts, it has
  1.37 and, with hamming linkage, 1.30. It is TCPT that is smaller then than expected,
  1540 parameters against 1752, at a log-likelihood 0.13 % below; TABS-L has 1150
  against 1183 and 1190. On fold 0 the deterministic start alone gives 1755 parameters,
  30 arcs and 671 215.5 bits; the second start finds 1542, 29 and 670 794, which is the
  better description and so is kept. More starts find still better ones: the ratio also
  tells how little of TCPT's search is done.
- **Merged leaves**: met, 0.46 times the parameters on mushroom and 65 nats more; adult
  loses 141 nats with half of the parameters.
- **Log-likelihoods** are within 1 % of those expected, or above them, in all 33
  cells."""

ABOUT_SEEDS = """How large TCPT is on adult depends on the optimum in which the second
of its two starts ends. Ratios of means over the two folds, for the seeds 0 to 9 of the
restarts:"""

ABOUT_REGROWN = """The searches over trees above are the paper's: they split leaves and
collapse splits (`tree_search="incremental"`). The default of
`BayesianNetworkEstimator`, `"regrowing"`, also replaces whole trees where neither gains
([how](../structure-learning.md)). Log-likelihood / parameters / arcs of both, over five
folds with five restarts. Descriptions become shorter,
and unseen rows more likely but on one line. TCPT loses most parameters: it has 1.23
times those of TABS-L on adult, where the paper's searches leave 1.37: that ratio tells
how far a search gets, too."""

ABOUT_CURVES = """The paper's tables 3 and 4: a fold is scored by networks that were
learned from more and more of the other rows, each training set within the next, with
two restarts. Log-likelihood (nats) / parameters / arcs, means over the folds."""

CURVES = """For 7200 rows, -117 470 (TCPT), -117 438 (TABS-E), -118 781 and -116 831
(TABS-G and TABS-L, hamming), -115 706 and -116 029 (information) were expected: all are
within 1 % or better. Likelihoods rise and parameters grow with the rows in every
column."""
