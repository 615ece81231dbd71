#pragma once
// Defines patches: the squares or cubes of samples that are matched and filtered together.

namespace lull {

/// A patch of `side` x `side` samples in each of `depth` neighbouring slices or frames.
struct PatchShape {
  int side = 8;
  int depth = 1;
  constexpr int samples() const { return side * side * depth; }
  friend constexpr bool operator==(const PatchShape&, const PatchShape&) = default;
};

/// The patch shape of the cpu and cuda kernels, which support no other shape. The reference backend
/// supports all squares up to this size.
inline constexpr PatchShape square_8{8, 1};
/// Side of the patches of the cpu and cuda kernels, called k in the papers.
inline constexpr int patch = square_8.side;
/// Maximum number of samples in a patch of any shape.
inline constexpr int max_patch_samples = 64;

}  // namespace lull
