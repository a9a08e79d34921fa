#pragma once

namespace plait::cli {

/// Opens those of standard input, output and error that were closed when the program began, such that using them fails.
/// Otherwise a file that is opened later would get their number, and texts for people would be written into it.
///
/// Whoever reads one of them may go away: then, too, using it fails, instead of ending this process by a signal.
void make_standard_streams_safe();

}  // namespace plait::cli
