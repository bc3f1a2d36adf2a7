# Written by scripts/python_stubs.py from the core's tables.
from typing import Literal

from boba import _core
from boba._parts import Attack, Rule, Stage

__all__ = [
    "ALittleIsEnough",
    "Average",
    "AvgRej",
    "Boba",
    "BobaES",
    "BobaHull",
    "BobaNoStage1",
    "BobaNoStage2",
    "BucketedKrum",
    "BucketedMultiKrum",
    "Bucketing",
    "ByGARS",
    "FLTrust",
    "Gaussian",
    "GeometricMedian",
    "Inf",
    "InnerProductManipulation",
    "Inside",
    "Krum",
    "Median",
    "Mimic",
    "MinMax",
    "MinSum",
    "MultiKrum",
    "NaN",
    "RAGE",
    "SelfRej",
    "ServerMix",
    "ServerOnly",
    "SignFlipping",
    "Simplex",
    "TrMean",
    "TrimmedMean",
    "Zeno",
    "Zero",
]

def document(entry: _core.Entry) -> str: ...

class Average(Rule):
    """Mean of all updates.

    The mean of all updates. Each client weighs the same, whatever number of samples it
    claims.

    Condition: Needs n >= 1; tolerates no Byzantine client.

    Cost: one output pass

    Citation: B. McMahan, E. Moore, D. Ramage, S. Hampson, B. Aguera y Arcas.
    Communication-Efficient Learning of Deep Networks from Decentralized Data. AISTATS 2017.
    """

    def __init__(self) -> None: ...

class ServerOnly(Rule):
    """Mean of the server's gradients; clients are not used.

    The mean of the server's gradients, one per class, each weighing the same.

    Condition: Needs at least one server gradient; any number of Byzantine clients is
    harmless.

    Cost: one output pass over the server's gradients

    Citation: W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with Label
    Skewness. AISTATS 2024.
    """

    def __init__(self) -> None: ...

class Median(Rule):
    """Median of each coordinate.

    Each coordinate of the result is the median of the clients' values; of an even number of
    values it is the mean of the middle two, or the lower one.

    Options:
        even = mean: median of an even number: mean of the middle two, or the lower
            (mean|lower)

    Condition: Needs n >= 1; each coordinate stays among the honest values for n > 2f.

    Cost: one pass over tiles of the updates, which sorts each coordinate

    Citation: D. Yin, Y. Chen, K. Ramchandran, P. Bartlett. Byzantine-Robust Distributed
    Learning: Towards Optimal Statistical Rates. ICML 2018.
    """

    def __init__(
        self,
        even: Literal["mean", "lower"] = "mean",
    ) -> None: ...
    @property
    def even(self) -> Literal["mean", "lower"]: ...

class TrMean(Rule):
    """Mean without the f extremes of each coordinate.

    In each coordinate the f largest and the f smallest values are dropped and the rest is
    averaged.

    Options:
        f = 0: Byzantine clients tolerated (0..1048576)

    Condition: Needs n > 2f; then each coordinate stays among the honest values.

    Cost: one pass over tiles of the updates, which sorts each coordinate

    Citation: D. Yin, Y. Chen, K. Ramchandran, P. Bartlett. Byzantine-Robust Distributed
    Learning: Towards Optimal Statistical Rates. ICML 2018.
    """

    def __init__(
        self,
        f: int = 0,
    ) -> None: ...
    @property
    def f(self) -> int: ...

class Krum(Rule):
    """The update closest to its neighbours.

    Each client's score is the sum of its squared distances to its n - f - 2 nearest others;
    the update with the lowest score is the result.

    Options:
        f = 0: Byzantine clients tolerated (0..1048576)
        neighbours = 0: nearest others that score; 0: n - f - 2 (0..1048576)

    Condition: Needs n - f - 2 >= 1; guaranteed for n >= 2f + 3 when honest clients look
    alike.

    Cost: one Gram pass, one output pass; n^2 log n in n-space

    Citation: P. Blanchard, E. M. El Mhamdi, R. Guerraoui, J. Stainer. Machine Learning with
    Adversaries: Byzantine Tolerant Gradient Descent. NeurIPS 2017.
    """

    def __init__(
        self,
        f: int = 0,
        neighbours: int = 0,
    ) -> None: ...
    @property
    def f(self) -> int: ...
    @property
    def neighbours(self) -> int: ...

class MultiKrum(Rule):
    """Mean of the updates closest to their neighbours.

    Each client's score is the sum of its squared distances to its n - f - 2 nearest others;
    the m = n - f updates with the lowest scores are averaged.

    Options:
        f = 0: Byzantine clients tolerated (0..1048576)
        m = 0: updates averaged; 0: n - f (0..1048576)
        neighbours = 0: nearest others that score; 0: n - f - 2 (0..1048576)

    Condition: Needs n - f - 2 >= 1 and m <= n; guaranteed for n >= 2f + 3 when honest
    clients look alike.

    Cost: one Gram pass, one output pass; n^2 log n in n-space

    Citation: P. Blanchard, E. M. El Mhamdi, R. Guerraoui, J. Stainer. Machine Learning with
    Adversaries: Byzantine Tolerant Gradient Descent. NeurIPS 2017.
    """

    def __init__(
        self,
        f: int = 0,
        m: int = 0,
        neighbours: int = 0,
    ) -> None: ...
    @property
    def f(self) -> int: ...
    @property
    def m(self) -> int: ...
    @property
    def neighbours(self) -> int: ...

class GeometricMedian(Rule):
    """Geometric median: the smallest sum of distances.

    The point with the smallest sum of distances to the updates, by Weiszfeld's steps and
    Newton's where those are slow, from the best of the updates. If several updates are
    equally good medians, their mean. With steps=T it is what T of Weiszfeld's steps reach
    from the zero update, distances below nu counting as nu.

    Options:
        tolerance = 1e-08: distance to the exact median, relative (1e-14..0.1)
        max_iter = 1000: steps at most (1..1048576)
        steps = 0: smoothed steps from the zero update; 0: exact (0..1048576)
        nu = 0.1: with steps: distances below count as nu (1e-300..1e+30)

    Condition: Needs n >= 1; bounded for n > 2f.

    Cost: one Gram pass, one output pass; n^2 in n-space per step, n^3 where Newton's steps
    are needed

    Citation: Y. Vardi, C.-H. Zhang. The multivariate L1-median and associated data depth.
    PNAS 2000.
    """

    def __init__(
        self,
        tolerance: float = 1e-08,
        max_iter: int = 1000,
        steps: int = 0,
        nu: float = 0.1,
    ) -> None: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def max_iter(self) -> int: ...
    @property
    def steps(self) -> int: ...
    @property
    def nu(self) -> float: ...

class SelfRej(Rule):
    """Mean of the updates whose own step leaves the smallest loss.

    The server's data gives the loss at w - eta g_i for each client; the n - f updates with
    the smallest loss are averaged.

    Options:
        f = 0: Byzantine clients tolerated (0..1048576)

    Condition: Needs n - f >= 1 and an oracle for the loss of the server's data, the model
    and the step; no guarantee is known.

    Cost: one pass for norms, n losses, one output pass

    Citation: M. Fang, X. Cao, J. Jia, N. Gong. Local Model Poisoning Attacks to
    Byzantine-Robust Federated Learning. USENIX Security 2020.
    """

    def __init__(
        self,
        f: int = 0,
    ) -> None: ...
    @property
    def f(self) -> int: ...

class AvgRej(Rule):
    """Mean of the updates whose removal hurts the average most.

    The server's data gives the loss at w - eta * (mean of the others) for each client; the
    n - f updates with the largest loss without them are averaged.

    Options:
        f = 0: Byzantine clients tolerated (0..1048576)

    Condition: Needs n >= 2, n - f >= 1 and an oracle for the loss of the server's data, the
    model and the step; no guarantee is known.

    Cost: one pass for norms, one for the sum of all rows, n losses at the sum less one row,
    one output pass

    Citation: M. Fang, X. Cao, J. Jia, N. Gong. Local Model Poisoning Attacks to
    Byzantine-Robust Federated Learning. USENIX Security 2020.
    """

    def __init__(
        self,
        f: int = 0,
    ) -> None: ...
    @property
    def f(self) -> int: ...

class Zeno(Rule):
    """Mean of the updates with the smallest loss plus a price on their size.

    A client's score is the loss of the server's data at w - eta g_i plus rho |eta g_i|^2;
    the n - f updates with the smallest score are averaged.

    Options:
        f = 0: Byzantine clients tolerated (0..1048576)
        rho = 0.0005: price of a squared step (0..1e+30)

    Condition: Needs n - f >= 1 and an oracle for the loss of the server's data, the model
    and the step; guaranteed when the server's data looks like the clients'.

    Cost: one pass for norms, n losses, one output pass

    Citation: C. Xie, S. Koyejo, I. Gupta. Zeno: Distributed Stochastic Gradient Descent
    with Suspicion-based Fault-tolerance. ICML 2019.
    """

    def __init__(
        self,
        f: int = 0,
        rho: float = 0.0005,
    ) -> None: ...
    @property
    def f(self) -> int: ...
    @property
    def rho(self) -> float: ...

class FLTrust(Rule):
    """Updates weighed by their cosine with the server's gradient.

    With s the server's gradient on all its data, client i's trust is t_i = max(0, cos(g_i,
    s)); the result is the mean of the updates, scaled to the norm of s, weighted by trust.
    If all trusts are 0 it is the zero update.

    Condition: Needs the server's gradient; guaranteed when the server's data has the
    clients' distribution.

    Cost: one pass for norms and products with s, one output pass

    Citation: X. Cao, M. Fang, J. Liu, N. Gong. FLTrust: Byzantine-robust Federated Learning
    via Trust Bootstrapping. NDSS 2021.
    """

    def __init__(self) -> None: ...

class ByGARS(Rule):
    """Unit updates weighed by reputations learned from the server's gradient.

    With u_i = g_i/|g_i| and q = 0, k times: v is the server's gradient at w - eta * sum q_i
    u_i, and q_i grows by alpha eta <u_i, v/|v|>. The result is sum q_i u_i, times eta over
    the round's where the rule has an eta of its own.

    Options:
        k = 3: steps of the reputations (1..10000)
        alpha = 0.05: size of a step of the reputations (0..1e+30)
        eta = 0: learning rate of the rule in every round; 0: the round's (0..1e+30)

    Condition: Needs an oracle for the gradient of the server's data, the model and the
    step; guaranteed for strongly convex losses and server data like the clients'.

    Cost: one pass for norms, k gradients with two passes each, one output pass

    Citation: J. Regatti, H. Chen, A. Gupta. ByGARS: Byzantine SGD with Arbitrary Number of
    Attackers. arXiv 2006.13421, 2020.
    """

    def __init__(
        self,
        k: int = 3,
        alpha: float = 0.05,
        eta: float = 0.0,
    ) -> None: ...
    @property
    def k(self) -> int: ...
    @property
    def alpha(self) -> float: ...
    @property
    def eta(self) -> float: ...

class RAGE(Rule):
    """Mean with less weight for clients far out along the main direction.

    Weights begin equal. In each step, with mu the weighted mean and v the direction of most
    weighted variance about it, tau_i = <g_i - mu, v>^2 and w_i is multiplied by 1 - tau_i /
    max tau. The result is the weighted mean.

    Options:
        f = 0: Byzantine clients tolerated (0..1048576)
        steps = 0: how often weights are taken away; 0: f (0..1048576)
        projection = centred: what is projected: g_i - mean, or g_i (centred|raw)

    Condition: Needs n >= 1; its guarantee needs an honest majority with bounded variance in
    every direction.

    Cost: one Gram pass, one output pass; a top eigenvector in n-space per step

    Citation: S. Data, S. Diggavi. Byzantine-Resilient High-Dimensional SGD with Local
    Iterations on Heterogeneous Data. ICML 2021.
    """

    def __init__(
        self,
        f: int = 0,
        steps: int = 0,
        projection: Literal["centred", "raw"] = "centred",
    ) -> None: ...
    @property
    def f(self) -> int: ...
    @property
    def steps(self) -> int: ...
    @property
    def projection(self) -> Literal["centred", "raw"]: ...

class Boba(Rule):
    """Mean of the updates projected on the label-skew simplex, outliers dropped.

    Stage 1 fits the (c-1)-dimensional affine subspace of the n - f updates nearest to it,
    beginning with the subspace of the server's gradients and alternating until the set
    stays the same. Stage 2 writes each projected update as a mix of the projected server
    gradients, an estimate of the client's label distribution, and accepts it if no share is
    below p_min (at least the n - slack f best). The result is the mean of the accepted
    projections.

    Options:
        f = 0: Byzantine clients tolerated (0..1048576)
        p_min = -0.5: least share of a class in an accepted label mix (-1000000..1|auto)
        max_iter = 20: fits of stage 1 at most (1..100000)
        parts = 1: server gradients per class, of disjoint samples (1..64)
        slack = 1: at least n - slack f clients are accepted (1..1024)

    Condition: Needs one server gradient per class, not all equal, and f < n. Guaranteed
    when any n - 2f honest clients span the c - 1 directions of the simplex (so n - 2f >= c)
    well above the noise of their updates.

    Cost: one Gram pass over clients and server rows, one output pass; k (n + c)^2 c in
    n-space for k fits (3 to 5)

    Citation: W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with Label
    Skewness. AISTATS 2024.
    """

    def __init__(
        self,
        f: int = 0,
        p_min: float | Literal["auto"] = -0.5,
        max_iter: int = 20,
        parts: int = 1,
        slack: int = 1,
    ) -> None: ...
    @property
    def f(self) -> int: ...
    @property
    def p_min(self) -> float | Literal["auto"]: ...
    @property
    def max_iter(self) -> int: ...
    @property
    def parts(self) -> int: ...
    @property
    def slack(self) -> int: ...

class BobaES(Rule):
    """Boba with the best of all subsets in stage 1, for small n.

    Stage 1 fits a subspace to every subset of n - f updates and takes the one with the
    least sum of squared residuals (ties to the first in lexicographic order). Stage 2 as in
    boba.

    Options:
        f = 0: Byzantine clients tolerated (0..1048576)
        p_min = -0.5: least share of a class in an accepted label mix (-1000000..1|auto)

    Condition: As boba, with at most 200000 subsets C(n, f), and C(n, f) (n - f)^3 at most
    1e11.

    Cost: one Gram pass, one output pass; C(n, f) fits of (n - f)^3 in n-space

    Citation: W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with Label
    Skewness. AISTATS 2024.
    """

    def __init__(
        self,
        f: int = 0,
        p_min: float | Literal["auto"] = -0.5,
    ) -> None: ...
    @property
    def f(self) -> int: ...
    @property
    def p_min(self) -> float | Literal["auto"]: ...

class BobaNoStage1(Rule):
    """Boba on the server's own subspace (ablation).

    The subspace stays that of the server's gradients; stage 2 as in boba.

    Options:
        f = 0: Byzantine clients tolerated (0..1048576)
        p_min = -0.5: least share of a class in an accepted label mix (-1000000..1|auto)

    Condition: Needs one server gradient per class, not all equal, and f < n.

    Cost: one Gram pass, one output pass

    Citation: W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with Label
    Skewness. AISTATS 2024.
    """

    def __init__(
        self,
        f: int = 0,
        p_min: float | Literal["auto"] = -0.5,
    ) -> None: ...
    @property
    def f(self) -> int: ...
    @property
    def p_min(self) -> float | Literal["auto"]: ...

class BobaNoStage2(Rule):
    """The mean of all updates projected on boba's subspace (ablation).

    Stage 1 as in boba; then all projected updates are averaged.

    Options:
        f = 0: Byzantine clients tolerated (0..1048576)
        max_iter = 20: fits of stage 1 at most (1..100000)

    Condition: Needs one server gradient per class, not all equal, and f < n.

    Cost: one Gram pass, one output pass

    Citation: W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with Label
    Skewness. AISTATS 2024.
    """

    def __init__(
        self,
        f: int = 0,
        max_iter: int = 20,
    ) -> None: ...
    @property
    def f(self) -> int: ...
    @property
    def max_iter(self) -> int: ...

class BobaHull(Rule):
    """Mean of the updates near the simplex of the class gradients; remembers.

    Fits a plane of c - 1 dimensions to the n - f updates nearest to the simplex of the
    class gradients, finds corners in it that explain these updates by label mixes,
    beginning with the server's gradients, and repeats until the set stays the same. A
    client passes if its distance from the simplex is at most kappa times the median
    distance. With a memory, a client also fails if its label mix differs from what it was
    in earlier rounds, or if it failed often. The result is the mean of the updates that
    pass (at least the n - 2f nearest).

    Options:
        f = 0: Byzantine clients tolerated (0..1048576)
        kappa = 4: typical distances that an accepted client may be away from the
            simplex (1..1000000)
        classes = 0: corners to find among the clients; 0: one server gradient per class
            (0..100000|auto)
        max_passes = 15: planes fitted at most (1..100000)

    Condition: Needs f < n, and one server gradient per class, not all equal, or classes.
    Any n - 2f honest clients must hold every class between them. Without server data the
    clients must also differ by their label mixes more than by noise; the verdict warns if
    they do not.

    Cost: one Gram pass over clients and server rows, one output pass; k (n^2 c + 4 n c^3)
    in n-space for k passes (3 to 6)

    Citation: Of this project; after W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated
    Learning with Label Skewness. AISTATS 2024.
    """

    def __init__(
        self,
        f: int = 0,
        kappa: float = 4.0,
        classes: int | Literal["auto"] = 0,
        max_passes: int = 15,
    ) -> None: ...
    @property
    def f(self) -> int: ...
    @property
    def kappa(self) -> float: ...
    @property
    def classes(self) -> int | Literal["auto"]: ...
    @property
    def max_passes(self) -> int: ...

class BucketedKrum(Rule):
    """Krum on means of random buckets.

    bucketing(s) | krum(f): clients are dealt at random to floor(n/s) buckets, and Krum with
    the same f chooses one bucket's mean.

    Options:
        f = 0: Byzantine clients tolerated (0..1048576)
        s = 2: clients per bucket (1..1048576)

    Condition: Needs floor(n/s) - f - 2 >= 1; guaranteed for floor(n/s) >= 2f + 3.

    Cost: one Gram pass, one output pass; n^2 log n in n-space

    Citation: S. P. Karimireddy, L. He, M. Jaggi. Byzantine-Robust Learning on Heterogeneous
    Datasets via Bucketing. ICLR 2022.
    """

    def __init__(
        self,
        f: int = 0,
        s: int = 2,
    ) -> None: ...
    @property
    def f(self) -> int: ...
    @property
    def s(self) -> int: ...

class BucketedMultiKrum(Rule):
    """Mkrum on means of random buckets.

    bucketing(s) | mkrum(f): clients are dealt at random to floor(n/s) buckets, and
    Multi-Krum with the same f averages all but f of the buckets' means.

    Options:
        f = 0: Byzantine clients tolerated (0..1048576)
        s = 2: clients per bucket (1..1048576)

    Condition: Needs floor(n/s) - f - 2 >= 1; guaranteed for floor(n/s) >= 2f + 3.

    Cost: one Gram pass, one output pass; n^2 log n in n-space

    Citation: S. P. Karimireddy, L. He, M. Jaggi. Byzantine-Robust Learning on Heterogeneous
    Datasets via Bucketing. ICLR 2022.
    """

    def __init__(
        self,
        f: int = 0,
        s: int = 2,
    ) -> None: ...
    @property
    def f(self) -> int: ...
    @property
    def s(self) -> int: ...

class Bucketing(Stage):
    """Before a rule: means of random buckets of s clients.

    A random permutation, drawn anew each round from the seed, deals the clients to
    floor(n/s) buckets; each bucket's mean is an update to the rule. The n mod s clients
    left over are dropped, or form a smaller bucket.

    Options:
        s = 2: clients per bucket (1..1048576)
        remainder = drop: what happens to the n mod s left over (drop|keep)

    Condition: Needs n >= s, or any n with remainder=keep. The rule then sees floor(n/s)
    updates of which up to f may be spoiled.

    Cost: n^2 in n-space for weight rules; on the fly in the tile pass for others

    Citation: S. P. Karimireddy, L. He, M. Jaggi. Byzantine-Robust Learning on Heterogeneous
    Datasets via Bucketing. ICLR 2022.
    """

    def __init__(
        self,
        s: int = 2,
        remainder: Literal["drop", "keep"] = "drop",
    ) -> None: ...
    @property
    def s(self) -> int: ...
    @property
    def remainder(self) -> Literal["drop", "keep"]: ...

class ServerMix(Stage):
    """After a rule: mixes its result with the server's gradients.

    (1 - lambda) times the rule's result plus lambda times the mean of the server's
    gradients.

    Options:
        lambda_ = 0.5: the server's share of the result (0..1)

    Condition: Needs at least one server gradient. A fault in the rule's result remains,
    shrunk by 1 - lambda.

    Cost: the server rows join the output pass

    Citation: W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with Label
    Skewness. AISTATS 2024.
    """

    def __init__(
        self,
        lambda_: float = 0.5,
    ) -> None: ...
    @property
    def lambda_(self) -> float: ...

class Gaussian(Attack):
    """Independent normal numbers.

    Every Byzantine client sends numbers drawn from a normal distribution with the given
    mean, 0 by default, and standard deviation sigma; with on=parameters both are those of
    the local parameters, divided by the learning rate on gradients.

    Options:
        sigma = 14.142135623730951: standard deviation of each number (0..1e+30)
        on = gradient: what sigma is measured on (gradient|parameters)
        mean = 0: mean of each number (-1e+30..1e+30)

    Condition: on=parameters needs the round's learning rate.

    Cost: one pass over each forged row

    Citation: W. Bao, J. Wu, J. He. BOBA: Byzantine-Robust Federated Learning with Label
    Skewness. AISTATS 2024.
    """

    def __init__(
        self,
        sigma: float = 14.142135623730951,
        on: Literal["gradient", "parameters"] = "gradient",
        mean: float = 0.0,
    ) -> None: ...
    @property
    def sigma(self) -> float: ...
    @property
    def on(self) -> Literal["gradient", "parameters"]: ...
    @property
    def mean(self) -> float: ...

class Inf(Attack):
    """All infinite.

    Every Byzantine client sends infinity in every coordinate; a server that does not refuse
    it loses its model.

    Condition: None.

    Cost: one write of each forged row

    Citation: None; a test of the server's checks.
    """

    def __init__(self) -> None: ...

class Inside(Attack):
    """A corner of the honest simplex for ever, and as far beyond it as boba-hull allows.

    Every Byzantine client sends the gradient of one class, moved by reach times the typical
    distance (the median) of honest updates from the simplex of the class gradients: away
    from the honest mean, or with aim=against along minus the mean. With corner=-1 the class
    is chosen in each round: the one farthest from the mean, or most against it. With speed
    below 1 the clients begin at the honest mean and go that share of the way to the corner
    in each round, so that their label mix drifts. The class gradients are those that
    explain the honest updates by their true label mixes, if these are known, and else the
    server's.

    Options:
        corner = 0: the class whose gradient is sent; -1: chosen in each round
            (-1..1048576)
        reach = 3.5: distance beyond the corner, in typical distances of honest updates
            (0..1000000)
        aim = furthest: the direction beyond the corner (furthest|against)
        speed = 1: share of the way from the honest mean to the corner in a round; 1:
            there at once (0..1)

    Condition: Needs the honest clients' label mixes, or the server's class gradients.

    Cost: one norm and one Gram pass, one output pass; c h^2 in n-space

    Citation: Of this project.
    """

    def __init__(
        self,
        corner: int = 0,
        reach: float = 3.5,
        aim: Literal["furthest", "against"] = "furthest",
        speed: float = 1.0,
    ) -> None: ...
    @property
    def corner(self) -> int: ...
    @property
    def reach(self) -> float: ...
    @property
    def aim(self) -> Literal["furthest", "against"]: ...
    @property
    def speed(self) -> float: ...

class InnerProductManipulation(Attack):
    """Minus gamma times the honest mean.

    Every Byzantine client sends -gamma times the mean of the honest updates, so that the
    inner product of the aggregate and the true gradient turns negative.

    Options:
        gamma = 10: factor of the negated honest mean (0..1e+30)

    Condition: Needs at least one honest update.

    Cost: one output pass over the honest updates

    Citation: C. Xie, O. Koyejo, I. Gupta. Fall of Empires: Breaking Byzantine-tolerant SGD
    by Inner Product Manipulation. UAI 2019.
    """

    def __init__(
        self,
        gamma: float = 10.0,
    ) -> None: ...
    @property
    def gamma(self) -> float: ...

class ALittleIsEnough(Attack):
    """The honest mean shifted by z standard deviations.

    Every Byzantine client sends mean - z * std of the honest updates, per coordinate, std
    with h - 1. With z=0, z is the normal quantile of (n - floor(n/2 + 1)) / (n - b), where
    n = h + b.

    Options:
        z = 0: standard deviations; 0: the definition's quantile (0..1e+30)
        sign = minus: side of the mean (minus|plus)

    Condition: Needs at least one honest update; z=0 needs b <= floor(n/2) and n >= 3.

    Cost: one pass over the honest updates

    Citation: G. Baruch, M. Baruch, Y. Goldberg. A Little Is Enough: Circumventing Defenses
    For Distributed Learning. NeurIPS 2019.
    """

    def __init__(
        self,
        z: float = 0.0,
        sign: Literal["minus", "plus"] = "minus",
    ) -> None: ...
    @property
    def z(self) -> float: ...
    @property
    def sign(self) -> Literal["minus", "plus"]: ...

class Mimic(Attack):
    """A copy of one honest client's update.

    Every Byzantine client sends a copy of one honest update: that of the given client, or
    with choose=strongest the one with the largest squared projection, centred, on the top
    principal direction of the honest updates.

    Options:
        client = 0: the honest row to copy, with choose=fixed (0..1048576)
        choose = fixed: how the row is chosen (fixed|strongest)

    Condition: Needs the client among the honest ones.

    Cost: one read of a row; strongest: one norm and one Gram pass, h^3 in n-space

    Citation: S. P. Karimireddy, L. He, M. Jaggi. Byzantine-Robust Learning on Heterogeneous
    Datasets via Bucketing. ICLR 2022.
    """

    def __init__(
        self,
        client: int = 0,
        choose: Literal["fixed", "strongest"] = "fixed",
    ) -> None: ...
    @property
    def client(self) -> int: ...
    @property
    def choose(self) -> Literal["fixed", "strongest"]: ...

class MinMax(Attack):
    """The honest mean moved as far as the widest honest pair.

    Every Byzantine client sends x = mean - gamma * std of the honest updates, with the
    largest gamma that a halving search finds such that max_i |x - g_i| <= max_ij |g_i -
    g_j|.

    Options:
        gamma_init = 10: where the search for gamma begins (1e-09..1000000000)
        tau = 1e-05: how well gamma is searched for (1e-12..1)
        sign = minus: side of the mean (minus|plus)

    Condition: Needs at least one honest update; with equal ones it sends their mean.

    Cost: two moment passes, one product and one Gram pass; h^2 in n-space

    Citation: V. Shejwalkar, A. Houmansadr. Manipulating the Byzantine: Optimizing Model
    Poisoning Attacks and Defenses for Federated Learning. NDSS 2021.
    """

    def __init__(
        self,
        gamma_init: float = 10.0,
        tau: float = 1e-05,
        sign: Literal["minus", "plus"] = "minus",
    ) -> None: ...
    @property
    def gamma_init(self) -> float: ...
    @property
    def tau(self) -> float: ...
    @property
    def sign(self) -> Literal["minus", "plus"]: ...

class MinSum(Attack):
    """The honest mean moved as far as the widest sum of honest distances.

    Every Byzantine client sends x = mean - gamma * std of the honest updates, with the
    largest gamma that a halving search finds such that sum_i |x - g_i|^2 <= max_i sum_j
    |g_i - g_j|^2.

    Options:
        gamma_init = 10: where the search for gamma begins (1e-09..1000000000)
        tau = 1e-05: how well gamma is searched for (1e-12..1)
        sign = minus: side of the mean (minus|plus)

    Condition: Needs at least one honest update; with equal ones it sends their mean.

    Cost: two moment passes, one product and one Gram pass; h^2 in n-space

    Citation: V. Shejwalkar, A. Houmansadr. Manipulating the Byzantine: Optimizing Model
    Poisoning Attacks and Defenses for Federated Learning. NDSS 2021.
    """

    def __init__(
        self,
        gamma_init: float = 10.0,
        tau: float = 1e-05,
        sign: Literal["minus", "plus"] = "minus",
    ) -> None: ...
    @property
    def gamma_init(self) -> float: ...
    @property
    def tau(self) -> float: ...
    @property
    def sign(self) -> Literal["minus", "plus"]: ...

class NaN(Attack):
    """All NaN.

    Every Byzantine client sends NaN in every coordinate; a server that does not refuse it
    loses its model.

    Condition: None.

    Cost: one write of each forged row

    Citation: None; a test of the server's checks.
    """

    def __init__(self) -> None: ...

class SignFlipping(Attack):
    """An honest client's update, negated.

    Byzantine client j sends -scale times the update of honest client j mod h, or with
    of=mean -scale times the mean of the honest updates.

    Options:
        scale = 1: factor of the negated update (0..1e+30)
        of = client: what is negated (client|mean)

    Condition: Needs at least one honest update.

    Cost: one read of an honest row for each forged row; mean: one output pass

    Citation: L. Li, W. Xu, T. Chen, G. B. Giannakis, Q. Ling. RSA: Byzantine-Robust
    Stochastic Aggregation Methods for Distributed Learning from Heterogeneous Datasets.
    AAAI 2019.
    """

    def __init__(
        self,
        scale: float = 1.0,
        of: Literal["client", "mean"] = "client",
    ) -> None: ...
    @property
    def scale(self) -> float: ...
    @property
    def of(self) -> Literal["client", "mean"]: ...

class Simplex(Attack):
    """The mix of class gradients that boba just accepts and that moves it most.

    Every Byzantine client sends one mix of the class gradients: one class has the share 1 -
    (c-1) q and all others q = p_min + margin, the outermost that boba accepts. The class is
    the one that takes the mix furthest from the honest mean, or with aim=against the one
    whose difference from the mean points most against it. The class gradients are the
    server's, with corners=labels those that explain the honest updates by their true label
    mixes, or with classes=c the c honest updates that successive projection finds at the
    corners.

    Options:
        p_min = -0.5: least share that the attacked rule accepts (-1000000..0)
        classes = 0: corners to look for among the honest updates; 0: the server's
            gradients (0..1048576)
        margin = 0.001: added to p_min; below 0 is outside the region (-1..1)
        aim = furthest: how the class is chosen (furthest|against)
        corners = server: class gradients of the server, or of the honest clients' true
            label mixes (server|labels)

    Condition: Needs the server's class gradients, the honest clients' label mixes
    (corners=labels), or classes. Fewer corners than classes are used where the honest
    updates span less.

    Cost: one norm and one Gram pass, one output pass; c h^2 in n-space

    Citation: Of this project; the corners by M. C. U. Araujo et al. The successive
    projections algorithm for variable selection in spectroscopic multicomponent analysis.
    Chemometrics and Intelligent Laboratory Systems 57, 2001.
    """

    def __init__(
        self,
        p_min: float = -0.5,
        classes: int = 0,
        margin: float = 0.001,
        aim: Literal["furthest", "against"] = "furthest",
        corners: Literal["server", "labels"] = "server",
    ) -> None: ...
    @property
    def p_min(self) -> float: ...
    @property
    def classes(self) -> int: ...
    @property
    def margin(self) -> float: ...
    @property
    def aim(self) -> Literal["furthest", "against"]: ...
    @property
    def corners(self) -> Literal["server", "labels"]: ...

class Zero(Attack):
    """All zeros.

    Every Byzantine client sends the zero update: a free rider that slows training down.

    Condition: None.

    Cost: one write of each forged row

    Citation: None; a baseline.
    """

    def __init__(self) -> None: ...

TrimmedMean = TrMean
