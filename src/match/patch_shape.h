#pragma once
// Patches: the squares, or cubes, of samples that are matched and filtered together.

namespace lull {

/// A patch of side x side samples in each of `depth` neighbouring slices, or frames.
struct PatchShape {
  int side = 8;
  int depth = 1;
  constexpr int samples() const { return side * side * depth; }
  friend constexpr bool operator==(const PatchShape&, const PatchShape&) = default;
};

/// The shape that the kernels of the cpu and cuda backends are written for. The reference takes
/// squares up to this one.
inline constexpr PatchShape square_8{8, 1};
/// Its side: k of the papers.
inline constexpr int patch = square_8.side;
/// Samples that a patch of any shape has at most.
inline constexpr int max_patch_samples = 64;
/// Side of the patches that are filtered by the covariance of their group, at most.
inline constexpr int max_wide_side = 10;

}  // namespace lull
