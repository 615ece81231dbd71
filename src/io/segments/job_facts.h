#pragma once
// Facts of a job in segments: everything that its output depends on.

#include <vector>

#include "io/encode/encoder.h"
#include "io/media.h"
#include "io/read/source.h"

namespace lull::io {

/// Returns the facts of a job. Reads the complete input for its checksum, because name, size and
/// date do not identify a file's content, and change if a job is moved. This is limited by the disk
/// or by SHA-256; denoising takes many times as long.
///
/// A process that makes segments of a planned job reads only a sample of the input. If the sample
/// matches, it uses the checksum of the plan.
/// @throws NoInput  the input cannot be read
std::vector<JobFact> job_facts(const FileSource& source, const Container& container,
                               const SinkOptions& options, const Encoder& encoder);

/// Returns the source as a FileSource.
/// @throws InvalidArgument  it is a stack of slices
const FileSource& file_source_of(const AdditionalSource& additional);

/// Returns the total size of an input's files, and the SHA-256 of the sizes and of blocks spread
/// over the files.
std::string sample_digest(const FileSource& source);

}  // namespace lull::io
