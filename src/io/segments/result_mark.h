#pragma once
// Marks a finished output with the identity of its job in the extended attribute user.lull.job,
// because lull removes the folder of a finished job. Some file systems do not store extended
// attributes.

#include <string>

namespace lull::io {

/// Stores the mark of the job `job` (job_id()) in an output, before its final renaming.
void mark_result(const std::string& file, const std::string& job);
/// is_marked(): whether the file is the output of a job. is_result_of(): whether the file is the
/// unmodified output of the job `job`. Both return false if the file system stores no mark.
bool is_marked(const std::string& file);
bool is_result_of(const std::string& file, const std::string& job);

}  // namespace lull::io
