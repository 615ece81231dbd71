// replay CHANGES FILE|FOLDER ...: runs a fuzz target without libFuzzer over seed files, and over
// CHANGES variants of each seed with random changes. The changes are the same in every run.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "fuzz/fuzz.h"

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> seeds_in(int count, char** names) {
  std::vector<fs::path> seeds;
  for (int i = 0; i < count; ++i) {
    if (!fs::is_directory(names[i])) {
      seeds.emplace_back(names[i]);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(names[i])) seeds.push_back(entry.path());
  }
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

/// Changes some bytes; every fourth variant is also truncated.
std::vector<std::uint8_t> changed(std::vector<std::uint8_t> bytes, std::mt19937& rng) {
  for (unsigned n = rng() % 4 + 1; n > 0 && !bytes.empty(); --n) {
    // Headers and directories are small but critical, so most changes are near the beginning or the
    // end.
    const std::size_t near = std::min<std::size_t>(bytes.size(), 400);
    const std::size_t at = rng() % near;
    bytes[rng() % 2 ? at : bytes.size() - 1 - at] = static_cast<std::uint8_t>(rng());
  }
  if (rng() % 4 == 0) bytes.resize(rng() % (bytes.size() + 1));
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int changes = std::atoi(argv[1]);
  const std::vector<fs::path> seeds = seeds_in(argc - 2, argv + 2);
  std::mt19937 rng{1};
  for (const fs::path& seed : seeds) {
    std::ifstream in(seed, std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    for (int n = 0; n < changes; ++n) {
      const std::vector<std::uint8_t> other = changed(bytes, rng);
      LLVMFuzzerTestOneInput(other.data(), other.size());
    }
  }
  std::printf("%zu seeds, %d changes of each\n", seeds.size(), changes);
  return seeds.empty() ? 1 : 0;
}
