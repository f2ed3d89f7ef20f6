// Splits a batch into parts, each computed by a oneDNN primitive of its own on
// one thread.
//
// A thread takes another part whenever it has finished one, so a thread that
// shares its core with another process computes fewer parts. oneDNN 2.6 would
// split the work evenly, and in kernel gradients its threads would spin until
// the slowest one is done.
//
// Invariants:
//  * The number of parts depends on shapes and on the number of threads alone,
//    and partial gradients are summed in the order of the parts. So a repeat
//    gives the same bits.
//  * All parts use the same layout of the kernel.
#ifndef PACELINE_WORKER_DEVICE_CPU_BATCH_PARTS_H_
#define PACELINE_WORKER_DEVICE_CPU_BATCH_PARTS_H_

#include <cstdint>
#include <dnnl.hpp>
#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "common/tensor/shape.h"
#include "worker/device/cpu/onednn.h"
#include "worker/device/cpu/parallel.h"
#include "worker/device/cpu/program_builder.h"
#include "worker/device/program/tensor.h"

namespace paceline::cpu {

// What the parts of a convolution produce.
enum class PartsOf {
  // Their examples' outputs, or gradients of inputs.
  kImages,
  // A kernel gradient each; these are summed.
  kKernelGradient,
};

// The number of parts into which the batch of a convolution is split. 1 if
// oneDNN should split the work: among few examples or pixels, it can also split
// the channels. `output`: (batch, height, width, filters).
int64_t PartCount(const Shape& output, const Shape& kernel, PartsOf parts_of);

template <typename Primitive>
struct Part {
  // The first example.
  int64_t begin = 0;
  typename Primitive::primitive_desc description;
  Primitive primitive;
};

// The layout of the kernel, or of its gradient.
inline dnnl::memory::desc KernelLayout(
    const dnnl::convolution_backward_weights::primitive_desc& primitive) {
  return primitive.diff_weights_desc();
}
template <typename Description>
dnnl::memory::desc KernelLayout(const Description& primitive) {
  return primitive.weights_desc();
}

// Splits a batch into that many parts, or into one if they prefer different
// layouts of the kernel. describe(count) returns the primitive_desc for that
// many examples. Parts of the same size share a primitive.
template <typename Primitive, typename Describe>
std::vector<Part<Primitive>> Split(int64_t batch, int64_t part_count,
                                   Describe describe) {
  const auto part = [&](int64_t begin, int64_t end) -> Part<Primitive> {
    const typename Primitive::primitive_desc description =
        describe(end - begin);
    return {begin, description, Primitive(description)};
  };
  if (part_count > 1) {
    // Covers the creation of both descriptors and primitives: the key of
    // oneDNN's primitive cache includes the current number of threads.
    const OneThread one_thread;
    std::map<int64_t, Part<Primitive>> by_size;
    std::vector<Part<Primitive>> parts;
    for (int64_t i = 0; i < part_count; ++i) {
      const int64_t begin = batch * i / part_count;
      const int64_t end = batch * (i + 1) / part_count;
      auto known = by_size.find(end - begin);
      if (known == by_size.end()) {
        known = by_size.emplace(end - begin, part(begin, end)).first;
      }
      parts.push_back(known->second);
      parts.back().begin = begin;
    }
    const dnnl::memory::desc layout = KernelLayout(parts[0].description);
    if (absl::c_all_of(by_size, [&](const auto& size_and_part) {
          return KernelLayout(size_and_part.second.description) == layout;
        })) {
      return parts;
    }
  }
  return {part(0, batch)};
}

// Adds the primitives of all parts. arguments_of(part) returns the arguments of
// a part's primitive.
template <typename Primitive, typename ArgumentsOf>
void AddParts(const std::vector<Part<Primitive>>& parts,
              ArgumentsOf arguments_of, ProgramBuilder& builder) {
  std::vector<ProgramBuilder::NewPrimitive> primitives;
  for (const Part<Primitive>& part : parts) {
    primitives.push_back({part.primitive, part.description.scratchpad_desc(),
                          arguments_of(part)});
  }
  builder.AddPrimitives(std::move(primitives));
}

// An argument that begins with example `begin` of `images`. `layout` is that of
// the part.
PrimitiveArgument From(int64_t begin, int index, Tensor* images,
                       const dnnl::memory::desc& layout);

// Adds sums[0] += sums[1] + …, in this order. All have `count` float32 values.
void AddSums(const std::vector<Tensor*>& sums, int64_t count,
             ProgramBuilder& builder);

}  // namespace paceline::cpu

#endif  // PACELINE_WORKER_DEVICE_CPU_BATCH_PARTS_H_
