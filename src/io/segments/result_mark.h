#pragma once
// Stores the identifier of a job in the extended attribute user.lull.job of the job's output. The
// attribute also contains the number of encoder threads, because the headers of some encoders
// depend on this number. Some file systems do not support extended attributes.

#include <string>

namespace lull::io {

/// Stores the identifier `job` (job_id()) and the number of encoder threads in the extended
/// attribute of an output. The caller must call this function before it renames the output to its
/// final name.
void mark_result(const std::string& file, const std::string& job, int threads);
/// Returns the number of encoder threads of the job that wrote the output `file`; 0 if the file has
/// no extended attribute of a job.
int marked_threads(const std::string& file);
/// is_marked() returns whether the file has the extended attribute of any job. is_result_of()
/// returns whether the file is the unmodified output of the job `job`. Both functions return false
/// if the file system does not support extended attributes.
bool is_marked(const std::string& file);
bool is_result_of(const std::string& file, const std::string& job);

}  // namespace lull::io
