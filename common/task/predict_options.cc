#include "common/task/predict_options.h"

#include "CLI/CLI.hpp"
#include "common/limits.h"

namespace paceline {

void PredictOptions::AddTo(CLI::App& verb) {
  verb.add_option("MODEL", model,
                  "A .keras file or a legacy .h5, a checkpoint, or the folder "
                  "of a job's "
                  "checkpoints.")
      ->required();
  verb.add_option("--job", job_path,
                  "The job, YAML or JSON, whose data.test is read.");
  verb.add_option("--set", overrides,
                  "path.to.field=value: changes a field of the job.");
  verb.add_option("--data", data,
                  "Instead of --job: a file of features, which is a NumPy "
                  "array (.npy), the array `x` of a NumPy archive (.npz), all "
                  "columns of a CSV file with a header (.csv), or IDX, plain "
                  "or gzip, by its path or URL; or what a job says "
                  "of data.test, such "
                  "as 'npz: {file: d.npz, features: images}'.");
  verb.add_option("--scale", scale,
                  "Factor applied to each feature of a file; default 1.");
  verb.add_option("--output", output,
                  "The file of the model's outputs, in the order of the "
                  "examples: .npy, float32 of shape [examples, ...]; or .csv, "
                  "a row for each example, without a header.")
      ->required();
  verb.add_option("--batch-size", batch_size,
                  "Examples that are computed at once; default the job's, or "
                  "32. The outputs hardly depend on it.")
      ->check(CLI::Range(int64_t{1}, limits::kMaxBatchSize));
  verb.add_option("--device", device,
                  "What computes, as in a job: auto, cpu, cuda, cuda:N; "
                  "default the job's, or auto.");
  data_access.AddTo(verb);
}

}  // namespace paceline
