#pragma once
// Which job a finished output is of, when nothing else of the job is left: an extended attribute of
// the file (user.lull.job), which the file system may or may not keep. No byte of it changes.

#include <string>

namespace lull::io {

/// Before the file gets its name. `job`: job_id() of its facts.
void mark_result(const std::string& file, const std::string& job);
/// Whether the file is of some job at all, and of this one; false, too, where it was written to
/// since, or where the file system keeps no such marks.
bool is_marked(const std::string& file);
bool is_result_of(const std::string& file, const std::string& job);

}  // namespace lull::io
