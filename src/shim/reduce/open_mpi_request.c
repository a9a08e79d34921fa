#include "shim/reduce/open_mpi_request.h"

#if defined(PLAIT_HAVE_OPENMPI_INTERNALS)

/* Open MPI wants its configuration first. */
/* clang-format off */
#include <ompi_config.h>
#include <ompi/constants.h>
#include <ompi/request/request.h>
/* clang-format on */

#include <stdlib.h>
#include <string.h>

/* A program may bring another MPI, which lacks them. */
#pragma weak ompi_request_t_class
#pragma weak ompi_request_f_to_c_table
#pragma weak opal_class_init_epoch
#pragma weak opal_class_initialize
#pragma weak opal_pointer_array_set_item
#pragma weak opal_uses_threads

typedef struct {
  ompi_request_t request; /* MPI's handle */
  void* state;
  void (*start)(void* state);
  void (*forget)(void* state);
} plait_request;

bool plait_has_open_mpi_requests(void) {
  static const char series[] = "Open MPI v4.1.";
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  return OMPI_MAJOR_VERSION == 4 && OMPI_MINOR_VERSION == 1 && strncmp(version, series, sizeof series - 1) == 0 &&
         &ompi_request_t_class != NULL && &ompi_request_f_to_c_table != NULL && &opal_class_init_epoch != NULL &&
         &opal_uses_threads != NULL && opal_class_initialize != NULL && opal_pointer_array_set_item != NULL &&
         ompi_request_t_class.cls_sizeof == sizeof(ompi_request_t);
}

static int start_all(size_t count, ompi_request_t** requests) {
  for (size_t i = 0; i < count; ++i) {
    plait_request* const made = (plait_request*)requests[i];
    made->request.req_status.MPI_ERROR = MPI_SUCCESS;
    made->request.req_complete = REQUEST_PENDING;
    made->request.req_state = OMPI_REQUEST_ACTIVE;
    made->start(made->state);
  }
  return OMPI_SUCCESS;
}

static int free_one(ompi_request_t** request) {
  plait_request* const made = (plait_request*)*request;
  *request = MPI_REQUEST_NULL;
  made->forget(made->state);
  return OMPI_SUCCESS;
}

MPI_Request plait_make_open_mpi_request(void* state, void (*start)(void* state), void (*forget)(void* state)) {
  plait_request* const made = malloc(sizeof *made);
  if (made == NULL) return MPI_REQUEST_NULL;
  OBJ_CONSTRUCT(&made->request, ompi_request_t);
  OMPI_REQUEST_INIT(&made->request, true);
  made->request.req_type = OMPI_REQUEST_COLL;
  made->request.req_status.MPI_SOURCE = MPI_ANY_SOURCE;
  made->request.req_status.MPI_TAG = MPI_ANY_TAG;
  made->request.req_status.MPI_ERROR = MPI_SUCCESS;
  made->request.req_status._ucount = 0;
  made->request.req_status._cancelled = 0;
  made->request.req_start = start_all;
  made->request.req_free = free_one;
  made->request.req_cancel = NULL;                    /* a reduction can't be called back */
  made->request.req_mpi_object.comm = MPI_COMM_WORLD; /* hears of errors: another one might be gone */
  made->state = state;
  made->start = start;
  made->forget = forget;
  return &made->request;
}

void plait_complete_open_mpi_request(MPI_Request request, int code) {
  request->req_status.MPI_ERROR = code;
  ompi_request_complete(request, true);
}

void plait_destroy_open_mpi_request(MPI_Request request) {
  OMPI_REQUEST_FINI(request);
  OBJ_DESTRUCT(request);
  free(request);
}

#else

bool plait_has_open_mpi_requests(void) { return false; }

MPI_Request plait_make_open_mpi_request(void* state, void (*start)(void* state), void (*forget)(void* state)) {
  (void)state, (void)start, (void)forget;
  return MPI_REQUEST_NULL;
}

void plait_complete_open_mpi_request(MPI_Request request, int code) { (void)request, (void)code; }

void plait_destroy_open_mpi_request(MPI_Request request) { (void)request; }

#endif
