// gpu_benchmark: times a GPU's copies and our update kernel. See --help.
#include <chrono>
#include <iostream>
#include <memory>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "worker/device/cuda/gpu.h"
#include "worker/device/cuda/open_gpu.h"

namespace paceline::cuda {
namespace {

struct Flags {
  int ordinal = 0;
  int64_t copied_bytes = int64_t{256} << 20;
  int64_t parameters = 100'000'000;
  int repeats = 20;
};

// Seconds of each of `repeats` runs of what `enqueue` enqueues, after a warm
// one.
absl::StatusOr<double> SecondsOf(int repeats, Queue& queue,
                                 absl::FunctionRef<void()> enqueue) {
  enqueue();
  RETURN_IF_ERROR(queue.Synchronize());
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) enqueue();
  RETURN_IF_ERROR(queue.Synchronize());
  const std::chrono::duration<double> duration =
      std::chrono::steady_clock::now() - start;
  return duration.count() / repeats;
}

absl::Status TimeCopies(const Flags& flags, Gpu& gpu, Queue& queue) {
  const int64_t bytes = flags.copied_bytes;
  ASSIGN_OR_RETURN(const MemoryBlock host, gpu.AllocatePinned(bytes, "copies"));
  ASSIGN_OR_RETURN(const MemoryBlock device, gpu.Allocate(bytes, "copies"));
  const std::pair<const char*, std::pair<std::byte*, std::byte*>> directions[] =
      {{"to_gpu", {device.get(), host.get()}},
       {"from_gpu", {host.get(), device.get()}}};
  for (const auto& [name, ends] : directions) {
    ASSIGN_OR_RETURN(const double seconds, SecondsOf(flags.repeats, queue, [&] {
                       queue.Copy(ends.first, ends.second, bytes);
                     }));
    std::cout << absl::StrFormat(
        "{\"what\": \"copy_%s\", \"bytes\": %d, \"seconds\": %.6g, "
        "\"gigabytes_per_second\": %.4g}\n",
        name, bytes, seconds, static_cast<double>(bytes) / seconds * 1e-9);
  }
  return absl::OkStatus();
}

// Adam reads four floats of each parameter, and writes three. All are zeros,
// the size of the step too: it takes as long with any.
absl::Status TimeAdam(const Flags& flags, Gpu& gpu, Queue& queue) {
  const int64_t count = flags.parameters;
  MemoryBlock blocks[4];
  for (MemoryBlock& block : blocks) {
    ASSIGN_OR_RETURN(
        block,
        gpu.Allocate(count * static_cast<int64_t>(sizeof(float)), "Adam"));
  }
  ASSIGN_OR_RETURN(const MemoryBlock step,
                   gpu.Allocate(sizeof(StepValues), "Adam"));
  const auto floats = [&](int i) {
    return reinterpret_cast<float*>(blocks[i].get());
  };
  AdamUpdate update;
  update.count = count;
  update.values = floats(0);
  update.gradients = floats(1);
  update.momenta = floats(2);
  update.velocities = floats(3);
  update.step = reinterpret_cast<const StepValues*>(step.get());
  update.one_minus_beta_1 = 0.1f;
  update.one_minus_beta_2 = 1e-3f;
  update.epsilon = 1e-7f;
  ASSIGN_OR_RETURN(const double seconds, SecondsOf(flags.repeats, queue, [&] {
                     queue.ForEach(FourBlocks(count), update);
                   }));
  const double bytes = 7.0 * sizeof(float) * static_cast<double>(count);
  std::cout << absl::StrFormat(
      "{\"what\": \"adam\", \"parameters\": %d, \"seconds\": %.6g, "
      "\"gigabytes_per_second\": %.4g}\n",
      count, seconds, bytes / seconds * 1e-9);
  return absl::OkStatus();
}

absl::Status Run(const Flags& flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Driver> driver, LoadDriver({}));
  ASSIGN_OR_RETURN(const std::unique_ptr<Gpu> gpu,
                   OpenGpu(*driver, flags.ordinal, {}));
  ASSIGN_OR_RETURN(const std::unique_ptr<Queue> queue, gpu->CreateQueue());
  RETURN_IF_ERROR(TimeCopies(flags, *gpu, *queue));
  return TimeAdam(flags, *gpu, *queue);
}

}  // namespace
}  // namespace paceline::cuda

int main(int argc, char** argv) {
  CLI::App app(
      "Times copies between pinned memory and a GPU, and Adam's update of "
      "parameters there; prints a line of JSON for each.");
  app.set_version_flag("--version", PACELINE_VERSION);
  paceline::cuda::Flags flags;
  app.add_option("--ordinal", flags.ordinal, "N of cuda:N.")
      ->capture_default_str();
  app.add_option("--bytes", flags.copied_bytes, "Bytes of a copy.")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--parameters", flags.parameters, "Parameters of an update.")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--repeats", flags.repeats, "Runs that are timed.")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  const absl::Status status = paceline::cuda::Run(flags);
  if (status.ok()) return 0;
  std::cerr << "gpu_benchmark: " << status.message() << "\n";
  return 1;
}
