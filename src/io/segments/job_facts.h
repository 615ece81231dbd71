#pragma once
// What a job in segments is made of: all that its bytes depend on.

#include <vector>

#include "io/encode/encoder.h"
#include "io/media.h"
#include "io/read/source.h"

namespace lull::io {

/// Reads the whole input, for its checksum: a name, a size and a date do not tell what a file
/// holds, and change where jobs are moved. That is as fast as the disk or SHA-256, while denoising
/// takes many times as long.
/// @throws NoInput  it cannot be read
///
/// Who makes segments of a job that was planned reads a sample of the input only, and takes the
/// plan's word for the rest.
std::vector<JobFact> job_facts(const FileSource& source, const Container& container,
                               const SinkOptions& options, const Encoder& encoder);

/// @throws InvalidArgument  a stack of slices
const FileSource& file_source_of(const AdditionalSource& additional);

/// Of an input's files: their size, and the SHA-256 of it and of blocks spread over them.
std::string sample_of(const FileSource& source);

}  // namespace lull::io
