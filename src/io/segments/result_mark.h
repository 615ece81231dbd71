#pragma once
// Marks a finished output with the identity of its job. The folder of a job is removed at the end
// of the job. The mark is an extended attribute of the file (user.lull.job). Some file systems do
// not store extended attributes.

#include <string>

namespace lull::io {

/// Stores the mark of the job `job` (the result of job_id()) in an output that does not have its
/// final name yet.
void mark_result(const std::string& file, const std::string& job);
/// is_marked() returns whether the file is the output of a job; is_result_of() returns whether it
/// is the unmodified output of the job `job`. Both return false if the file system did not store
/// the mark.
bool is_marked(const std::string& file);
bool is_result_of(const std::string& file, const std::string& job);

}  // namespace lull::io
