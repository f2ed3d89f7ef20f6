#include "worker/device/cpu/operations/elementwise.h"

#include <algorithm>
#include <utility>

#include "glog/logging.h"
#include "worker/device/cpu/kernels/elementwise.h"
#include "worker/device/cpu/operations/operations.h"

namespace paceline::cpu {
namespace {

constexpr int64_t kTileSize = 256;
constexpr int64_t kVector = 16;
constexpr int kMaxValues = op::ElementwiseOperation::kMaxInputs +
                           op::ElementwiseOperation::kMaxInstructions;

bool IsNumber(const BroadcastAxes& axes) {
  return axes.count == 1 && axes.strides[0] == 0;
}

// Whether the whole tensor repeats along the larger shape.
bool IsPeriodic(const BroadcastAxes& axes) {
  return axes.count == 2 && axes.strides[0] == 1;
}

// Writes elements [begin, begin + count) of the broadcast `values`.
template <typename T>
void WriteOut(const T* values, const BroadcastAxes& axes, int64_t begin,
              int64_t count, float* to) {
  if (axes.is_same()) {
    std::copy_n(values + begin, count, to);
    return;
  }
  const int64_t end = begin + count;
  for (int64_t i = begin; i < end;) {
    const int64_t run = std::min(axes.sizes[0] - i % axes.sizes[0], end - i);
    const T* const from = values + axes.Offset(i);
    if (axes.strides[0] == 0 && run <= kVector && end - i >= kVector) {
      // Stores a full vector; the next run overwrites the excess.
      std::fill_n(to, kVector, static_cast<float>(*from));
    } else if (axes.strides[0] == 0) {
      std::fill_n(to, run, static_cast<float>(*from));
    } else {
      std::copy_n(from, run, to);
    }
    to += run;
    i += run;
  }
}

}  // namespace

struct ElementProgram::Tile {
  alignas(64) float memory[kMaxValues][kTileSize];
  const float* values[kMaxValues];
};

ElementProgram::ElementProgram(std::vector<op::ElementInstruction> instructions,
                               absl::Span<Tensor* const> inputs,
                               const Tensor* output)
    : instructions_(std::move(instructions)), output_(output) {
  for (const Tensor* input : inputs) {
    inputs_.push_back({input, MakeBroadcastAxes(input->shape, output->shape)});
  }
  const int64_t period = PeriodOfTiles();
  tile_size_ = kTileSize / period * period;
  for (Input& input : inputs_) {
    const BroadcastAxes& axes = input.axes;
    if (IsNumber(axes) || (IsPeriodic(axes) && axes.sizes[0] == period)) {
      input.reading = Reading::kOnce;
    } else if (!axes.is_same() || input.tensor->type != DataType::kFloat32) {
      input.reading = Reading::kEachTile;
    }
  }
  is_one_loop_ =
      instructions_.size() == 1 &&
      instructions_[0].function != op::ElementFunction::kConstant &&
      std::all_of(inputs_.begin(), inputs_.end(), [](const Input& input) {
        return input.reading == Reading::kInPlace;
      });
}

int64_t ElementProgram::PeriodOfTiles() const {
  for (const Input& input : inputs_) {
    const BroadcastAxes& axes = input.axes;
    if (IsPeriodic(axes) && axes.sizes[0] <= kTileSize) return axes.sizes[0];
  }
  return 1;
}

void ElementProgram::Write(const Input& input, int64_t begin, int64_t count,
                           float* to) {
  const auto write = [&](const auto* values) {
    WriteOut(values, input.axes, begin, count, to);
  };
  switch (input.tensor->type) {
    case DataType::kBool:
      return write(input.tensor->as<bool>());
    case DataType::kInt32:
      return write(input.tensor->as<int32_t>());
    default:
      return write(input.tensor->floats());
  }
}

const float* ElementProgram::RunOf(const Input& input, int64_t begin,
                                   int64_t count) {
  const BroadcastAxes& axes = input.axes;
  if (input.reading != Reading::kEachTile || axes.is_same() ||
      input.tensor->type != DataType::kFloat32 || axes.strides[0] != 1 ||
      begin % axes.sizes[0] + count > axes.sizes[0]) {
    return nullptr;
  }
  return input.tensor->floats() + axes.Offset(begin);
}

void ElementProgram::Run(int64_t begin, int64_t end) const {
  if (instructions_.empty()) {
    return Write(inputs_.back(), begin, end - begin, output_->floats() + begin);
  }
  if (is_one_loop_) {
    const auto at = [&](int value) {
      return inputs_[value].tensor->floats() + begin;
    };
    const op::ElementInstruction& only = instructions_[0];
    return ComputeElements(only.function, end - begin, at(only.a), at(only.b),
                           at(only.c), output_->floats() + begin);
  }
  Tile tile;
  const auto input_count = static_cast<int>(inputs_.size());
  for (int i = 0; i < input_count; ++i) {
    const Input& input = inputs_[i];
    if (input.reading != Reading::kOnce) continue;
    Write(input, begin, std::min(tile_size_, end - begin), tile.memory[i]);
    tile.values[i] = tile.memory[i];
  }
  for (size_t i = 0; i < instructions_.size(); ++i) {
    const int value = input_count + static_cast<int>(i);
    tile.values[value] = tile.memory[value];
    if (instructions_[i].function != op::ElementFunction::kConstant) continue;
    std::fill_n(tile.memory[value], kTileSize,
                static_cast<float>(instructions_[i].constant));
  }
  for (int64_t i = begin; i < end; i += tile_size_) {
    RunTile(i, std::min(tile_size_, end - i), tile);
  }
}

void ElementProgram::RunTile(int64_t begin, int64_t count, Tile& tile) const {
  const auto input_count = static_cast<int>(inputs_.size());
  for (int i = 0; i < input_count; ++i) {
    const Input& input = inputs_[i];
    if (input.reading == Reading::kInPlace) {
      tile.values[i] = input.tensor->floats() + begin;
    } else if (const float* run = RunOf(input, begin, count); run != nullptr) {
      tile.values[i] = run;
    } else if (input.reading == Reading::kEachTile) {
      Write(input, begin, count, tile.memory[i]);
      tile.values[i] = tile.memory[i];
    }
  }
  float* const output = output_->floats() + begin;
  int value = input_count;
  const int last = input_count + static_cast<int>(instructions_.size()) - 1;
  for (const op::ElementInstruction& each : instructions_) {
    if (each.function != op::ElementFunction::kConstant) {
      ComputeElements(each.function, count, tile.values[each.a],
                      tile.values[each.b], tile.values[each.c],
                      value == last ? output : tile.memory[value]);
    }
    ++value;
  }
  if (instructions_.back().function == op::ElementFunction::kConstant) {
    std::copy_n(tile.values[last], count, output);
  }
}

namespace {

bool IsTranscendental(op::ElementFunction function) {
  switch (function) {
    case op::ElementFunction::kExp:
    case op::ElementFunction::kExpm1:
    case op::ElementFunction::kLog:
    case op::ElementFunction::kLog1p:
    case op::ElementFunction::kTanh:
    case op::ElementFunction::kSigmoid:
    case op::ElementFunction::kSoftplus:
    case op::ElementFunction::kErfc:
    case op::ElementFunction::kPower:
      return true;
    case op::ElementFunction::kConstant:
    case op::ElementFunction::kAbs:
    case op::ElementFunction::kSign:
    case op::ElementFunction::kFloor:
    case op::ElementFunction::kSqrt:
    case op::ElementFunction::kRelu:
    case op::ElementFunction::kAdd:
    case op::ElementFunction::kSubtract:
    case op::ElementFunction::kMultiply:
    case op::ElementFunction::kDivide:
    case op::ElementFunction::kMaximum:
    case op::ElementFunction::kMinimum:
    case op::ElementFunction::kLess:
    case op::ElementFunction::kLessEqual:
    case op::ElementFunction::kEqual:
    case op::ElementFunction::kSelect:
      return false;
  }
  LOG(FATAL) << static_cast<int>(function);
}

// How many times as long as an addition the instructions take, about.
int64_t WorkOf(absl::Span<const op::ElementInstruction> instructions) {
  int64_t work = 0;
  for (const op::ElementInstruction& each : instructions) {
    work += IsTranscendental(each.function) ? 8 : 1;
  }
  return std::max<int64_t>(1, work);
}

}  // namespace

Tensor* AddElementwise(const PlacedCall& call, ProgramBuilder& builder) {
  const auto& instructions =
      static_cast<const op::ElementwiseOperation&>(call.operation)
          .instructions();
  Tensor* const output = InPlaceOutputOf(call, builder);
  CHECK(output->type == DataType::kFloat32) << DataTypeName(output->type);
  std::vector<const Tensor*> used(call.inputs.begin(), call.inputs.end());
  used.push_back(output);
  builder.AddParallel(
      used, output->count(), WorkOf(instructions),
      [program = ElementProgram(instructions, call.inputs, output)](
          int64_t begin, int64_t end) { program.Run(begin, end); });
  return output;
}

}  // namespace paceline::cpu
