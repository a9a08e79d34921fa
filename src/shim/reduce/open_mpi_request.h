#pragma once

#include <stdbool.h>

#include <mpi.h>

/* Persistent requests of Open MPI's own kind that plait completes: whatever starts requests, waits for them, tests or
 * frees them takes these as any other. In C, as Open MPI's internal headers want. */

#ifdef __cplusplus
extern "C" {
#endif

/* Whether they can be made: this was built with the headers of the Open MPI that runs. Local. */
bool plait_has_open_mpi_requests(void);

/* MPI calls `start` in MPI_Start, and `forget` in MPI_Request_free, each with `state`.
 * \return  an inactive request, or MPI_REQUEST_NULL where memory is short
 * \pre  plait_has_open_mpi_requests() */
MPI_Request plait_make_open_mpi_request(void* state, void (*start)(void* state), void (*forget)(void* state));

/* Ends what was started. Waiting for the request returns `code`. */
void plait_complete_open_mpi_request(MPI_Request request, int code);

/* \pre  `forget` was called, and what was started is complete */
void plait_destroy_open_mpi_request(MPI_Request request);

#ifdef __cplusplus
}
#endif
