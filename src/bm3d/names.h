#pragma once
// Names of the enumerations in params.h.

#include "bm3d/params.h"
#include "core/params/names.h"

namespace lull {

template <>
inline constexpr NamesOf<bm3d::Transform, 3> names_of<bm3d::Transform>{
    {{bm3d::Transform::dct, "dct"},
     {bm3d::Transform::bior, "bior"},
     {bm3d::Transform::dft, "dft"}}};
template <>
inline constexpr NamesOf<bm3d::GroupTransform, 2> names_of<bm3d::GroupTransform>{
    {{bm3d::GroupTransform::haar, "haar"}, {bm3d::GroupTransform::wht, "wht"}}};

}  // namespace lull
