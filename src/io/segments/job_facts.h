#pragma once
// The facts of a job in segments: everything (settings, input, versions) on which the output of the
// job depends.

#include <vector>

#include "io/encode/encoder.h"
#include "io/media.h"
#include "io/read/source.h"

namespace lull::io {

/// Returns the facts of a job. The function reads the complete input to compute its checksum,
/// because name, size and date do not identify a file's content, and change if a job is moved. The
/// speed of the disk or of SHA-256 determines the time that this takes; denoising takes many times
/// as long.
///
/// A process that encodes segments of a planned job reads only some blocks of the input
/// (sample_digest()). If their digest matches the plan, the process uses the checksum in the plan.
/// @throws NoInput  the input cannot be read
std::vector<JobFact> job_facts(const FileSource& source, const Container& container,
                               const SinkOptions& options, const Encoder& encoder);

/// Returns the source as a FileSource.
/// @throws InvalidArgument  the source is a stack of slices
const FileSource& file_source_of(const AdditionalSource& additional);

/// Returns the total size of an input's files, and the SHA-256 of the file sizes and of blocks
/// spread over the files.
std::string sample_digest(const FileSource& source);

}  // namespace lull::io
