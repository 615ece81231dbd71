#pragma once
// Marks a finished output with the identity of its job, because the job's folder is removed when
// the job ends. The mark is an extended attribute of the file (user.lull.job). The file's content
// is not changed. Some file systems do not store extended attributes.

#include <string>

namespace lull::io {

/// Marks an output before it gets its final name. `job` is the result of job_id() for the job's
/// facts.
void mark_result(const std::string& file, const std::string& job);
/// is_marked() returns whether the file is the output of any job. is_result_of() returns whether
/// the file is the unmodified output of the given job. Both return false if the file system did not
/// store the mark.
bool is_marked(const std::string& file);
bool is_result_of(const std::string& file, const std::string& job);

}  // namespace lull::io
