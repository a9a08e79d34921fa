// The command `plait`: alone or as one of the ranks that a launcher starts.
#include "cli/host/command_line.hpp"
#include "cli/jobs/jobs.hpp"

int main(int argc, char** argv) { return plait::cli::run_program(plait::cli::jobs(), argc, argv); }
