#pragma once
// Marks a finished output with the job that made it, because the job's folder no longer exists. The
// mark is an extended attribute of the file (user.lull.job). The file's content is not changed.
// Some file systems do not keep such attributes.

#include <string>

namespace lull::io {

/// Marks an output before it gets its name. `job` is the job_id() of its facts.
void mark_result(const std::string& file, const std::string& job);
/// is_marked() returns whether the file is the output of any job, is_result_of() whether it is the
/// output of the given job. The latter is false if the file was modified since. Both are false if
/// the file system does not keep the mark.
bool is_marked(const std::string& file);
bool is_result_of(const std::string& file, const std::string& job);

}  // namespace lull::io
