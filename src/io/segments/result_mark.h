#pragma once
// Marks a finished output with the identity of its job. The mark is needed because the job's folder
// is removed at the end of the job. The mark is an extended attribute of the file (user.lull.job),
// so the content of the file does not change. Some file systems do not store extended attributes.

#include <string>

namespace lull::io {

/// Stores the mark of the job `job` in an output before the output gets its final name. `job` is
/// the result of job_id() for the job's facts.
void mark_result(const std::string& file, const std::string& job);
/// is_marked() returns whether the file is the output of a job. is_result_of() returns whether the
/// file is the output of the job `job` and has not been modified. If the file system did not store
/// the mark, these functions return false.
bool is_marked(const std::string& file);
bool is_result_of(const std::string& file, const std::string& job);

}  // namespace lull::io
