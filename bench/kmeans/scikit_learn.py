"""scikit_learn.py POINTS CENTRES: iterations of scikit-learn's k-means on one core, for bench_kmeans.

Each line on standard input is a number of iterations of Lloyd's from these centres; a line on standard output says that
they are done. The first line says that scikit-learn is there.
"""

import sys
import warnings

import numpy as np
from sklearn.cluster import _kmeans

points = np.ascontiguousarray(np.load(sys.argv[1]))
centres = np.ascontiguousarray(np.load(sys.argv[2]))
weights = np.ones(len(points), dtype=points.dtype)
warnings.simplefilter("ignore")  # that it did not converge
print("ready", flush=True)
for line in sys.stdin:
    _kmeans._kmeans_single_lloyd(points, weights, centres.copy(), max_iter=int(line), tol=0.0, n_threads=1)
    print("done", flush=True)
