/* loader LIBRARY: a program without MPI, which loads one that has it, with MPI's libraries, so that nobody else sees
 * their names; as Python does. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* const library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void* const program = library == NULL ? NULL : dlsym(library, "main");
  if (program == NULL) {
    fprintf(stderr, "loader: %s\n", argc == 2 ? dlerror() : "no library is named");
    return 2;
  }
  return ((int (*)(int, char**))program)(1, argv);
}
