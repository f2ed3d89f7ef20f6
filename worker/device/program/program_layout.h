// What a program is on every device, beside its operations: tensors with their
// addresses, and sections.
#ifndef PACELINE_WORKER_DEVICE_PROGRAM_PROGRAM_LAYOUT_H_
#define PACELINE_WORKER_DEVICE_PROGRAM_PROGRAM_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "worker/device/device.h"
#include "worker/device/program/memory_plan.h"
#include "worker/device/program/tensor.h"

namespace paceline {

// A block of the arena.
struct ArenaBlock {
  Memory* memory = nullptr;
  Lifetime lifetime = {};
  int64_t offset = 0;
  // By index in ProgramLayout::owners.
  int owner = 0;
};

struct ProgramLayout {
  struct SectionEnd {
    Section section;
    // The section's operations are those from the section before up to here.
    int end = 0;
  };
  std::vector<SectionEnd> sections;
  // Own what operations point to.
  std::vector<std::unique_ptr<Tensor>> tensors;
  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<ArenaBlock> arena;
  int64_t arena_size_bytes = 0;
  // Those of the batch, by input and by output of the model, which the program
  // places.
  std::vector<Memory*> features;
  std::vector<Memory*> labels;
  // The model's; in evaluation, they stay until the next batch.
  std::vector<const Tensor*> outputs;
  // What operations and blocks are for: "layer conv2d", "loss".
  std::vector<std::string> owners;
  // Of each operation, by index in `owners`.
  std::vector<int> operation_owners;

  // The operations [first, second) of a section.
  std::pair<int, int> OperationsOf(int section) const;

  // Gives the blocks their addresses in the arena that starts here.
  void PlaceArena(std::byte* start) const;
};

// Of the operation during which most of the arena is in use.
struct ArenaPeak {
  // Whose blocks take the most then, and how much.
  std::string owner;
  int64_t owner_bytes = 0;
};
ArenaPeak FindPeak(const ProgramLayout& layout);

}  // namespace paceline

#endif  // PACELINE_WORKER_DEVICE_PROGRAM_PROGRAM_LAYOUT_H_
