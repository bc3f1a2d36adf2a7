// What training asks of the whole process.
#pragma once

namespace boba::sim {

// One thread per client: LibTorch's and OpenBLAS's own threads would fight for the same processors.
// Large tensors and matrices come and go in every round, so memory is kept instead of returned.
void prepare_process();

}  // namespace boba::sim
