#pragma once
// Marks a finished output with the identity of its job, because lull removes the folder of a
// finished job. The mark is the extended attribute user.lull.job of the file. Some file systems do
// not store extended attributes.

#include <string>

namespace lull::io {

/// Stores the mark of the job `job` in an output before the output gets its final name. `job` is
/// the result of job_id().
void mark_result(const std::string& file, const std::string& job);
/// is_marked() returns whether the file is the output of a job. is_result_of() returns whether the
/// file is the unmodified output of the job `job`. Both functions return false if the file system
/// does not store the mark.
bool is_marked(const std::string& file);
bool is_result_of(const std::string& file, const std::string& job);

}  // namespace lull::io
