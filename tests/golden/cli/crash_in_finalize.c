/* Preloaded into the ranks of a job: those of Open MPI crash where it cleans up after them, when they have left the
 * job. */
#include <stdlib.h>

struct hwloc_topology;

void hwloc_topology_destroy(struct hwloc_topology* topology) {
  (void)topology;
  if (getenv("OMPI_COMM_WORLD_RANK") != NULL) abort();
}
