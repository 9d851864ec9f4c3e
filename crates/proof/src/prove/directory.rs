use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kalah_base::file::{self, Document, DocumentError, FileContent, FileLock, StateError};
use kalah_core::game::{Bounds, Pit, Position};
use serde::{Deserialize, Serialize};

use super::claims::{Claims, JobClaims};
use super::error::ProveError;
use super::request::{ProofPlan, Request};
use super::test::{Aim, Test, rows};

/// Format of the file that describes the proof.
const PROOF: Document = Document { format: "kalah proof", version: 2 };

/// Format of the first line of a job.
const JOB: Document = Document { format: "kalah job", version: 2 };

/// Maximum size of the file of a job. Its claims are in memory anyway.
const MOST_JOB_BYTES: u64 = 1 << 34;

/// A directory with a proof in progress: `proof.json` has the statement, and `jobs` a file for each finished
/// job. docs/proving.md describes both.
#[derive(Debug)]
pub struct ProofDirectory {
    path: PathBuf,
    plan: ProofPlan,
    /// Identity of the proof in the files of its jobs.
    id: String,
}

/// A finished job.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The test.
    pub test: Test,
    /// Proved bounds of the score that decide the test; `None` if the job ran over its budget.
    pub bounds: Option<Bounds>,
    /// The budget: the maximum nodes of the solver.
    pub budget: u64,
    /// Nodes searched.
    pub nodes: u64,
    /// Elapsed seconds, extraction of claims included.
    pub seconds: f64,
}

#[derive(Serialize, Deserialize)]
struct Proof {
    #[serde(flatten)]
    request: Request,
    effort: u32,
    tables: Vec<String>,
    parts: Vec<ProofPart>,
    program: String,
}

#[derive(Serialize, Deserialize)]
struct ProofPart {
    moves: Vec<Pit>,
    aim: Aim,
}

/// The proof to which a job belongs.
#[derive(Serialize, Deserialize)]
struct Work {
    proof: String,
}

#[derive(Serialize, Deserialize)]
struct Head {
    #[serde(flatten)]
    work: Work,
    position: String,
    score: u32,
    bounds: Option<[u32; 2]>,
    budget: u64,
    nodes: u64,
    seconds: f64,
    searched: u64,
    one_ply: u64,
    digest: String,
}

impl ProofDirectory {
    /// Opens the proof in the directory `path`; `None` if there is no proof.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Option<ProofDirectory>, ProveError> {
        let path = path.as_ref();
        let proof = path.join("proof.json");
        let Some(bytes) = file::found(file::read(&proof)).map_err(ProveError::io(&proof))? else { return Ok(None) };
        let content: Proof = PROOF.parse(&bytes).map_err(StateError::document(&proof))?;
        let plan = content.plan().ok_or_else(|| StateError::damaged(&proof, "it does not describe a proof"))?;
        let id = blake3::hash(&bytes).to_hex()[..16].to_owned();
        Ok(Some(ProofDirectory { path: path.to_owned(), plan, id }))
    }

    /// Opens the proof in the directory `path`, or begins one there, creating the directory if necessary.
    /// `plan` is called for a new proof only.
    ///
    /// # Errors
    /// If reading or writing fails, a file is damaged, or `plan` fails.
    pub fn open_or_begin(
        path: &Path,
        plan: impl FnOnce() -> Result<ProofPlan, ProveError>,
    ) -> Result<ProofDirectory, ProveError> {
        let proof = path.join("proof.json");
        if let Some(directory) = ProofDirectory::open(path)? {
            return Ok(directory);
        }
        let plan = plan()?;
        // A proof too large for a certificate is rejected early.
        plan.statement(&[]).goals()?;
        let jobs = path.join("jobs");
        fs::create_dir_all(&jobs).map_err(ProveError::io(&jobs))?;
        // Of several processes that begin it at once, the first determines the proof.
        PROOF.write_new(&proof, &Proof::of(&plan)).map_err(ProveError::io(&proof))?;
        // A process that loses its own by this finds the proof.
        file::remove_leftovers(&proof).map_err(ProveError::io(&proof))?;
        ProofDirectory::open(path)?.ok_or_else(|| ProveError::Empty(path.to_owned()))
    }

    fn work(&self) -> Work {
        Work { proof: self.id.clone() }
    }

    /// Request, effort and tables of the proof.
    pub fn plan(&self) -> &ProofPlan {
        &self.plan
    }

    /// Locks the directory for this process alone.
    ///
    /// # Errors
    /// If another process holds the lock.
    pub fn lock(&self) -> Result<FileLock, ProveError> {
        Ok(FileLock::beside(&self.path.join("jobs")).map_err(StateError::from)?)
    }

    /// The file of a job.
    pub(crate) fn job_path(&self, test: &Test) -> PathBuf {
        self.jobs().join(format!("{}-{}.job", rows(&test.position, ".", "_"), test.score))
    }

    fn jobs(&self) -> PathBuf {
        self.path.join("jobs")
    }

    /// The lease of a job: the file by which a process shows that it runs the job.
    pub(crate) fn lease_path(&self, test: &Test) -> PathBuf {
        self.job_path(test).with_extension("lease")
    }

    /// Files of all jobs, sorted by name.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub(crate) fn job_paths(&self) -> Result<Vec<PathBuf>, ProveError> {
        self.files("job")
    }

    /// Removes incomplete files and leases of killed processes. No other process may work in the directory.
    ///
    /// # Errors
    /// If the directory cannot be listed, or a file cannot be removed.
    pub(crate) fn remove_leftovers(&self) -> Result<(), ProveError> {
        let leases = self.files("lease")?.into_iter().chain([self.certificate_lease_path()]);
        for path in leases {
            self.remove_lease(&path)?;
        }
        for (path, _) in self.temporaries()? {
            self.remove(&path)?;
        }
        let proof = self.path.join("proof.json");
        file::remove_leftovers(&proof).map_err(ProveError::io(&proof))
    }

    /// Removes the incomplete files and leases of finished jobs, and incomplete files that did not change for
    /// `patience`. Killed processes left them. Others may work in the directory.
    ///
    /// # Errors
    /// If the directory cannot be listed, or a file cannot be removed.
    pub(crate) fn remove_stale(&self, patience: Duration) -> Result<(), ProveError> {
        let age = |path: &Path| path.metadata().ok()?.modified().ok()?.elapsed().ok();
        for (path, job) in self.temporaries()? {
            if job.exists() || age(&path).is_some_and(|age| age >= patience) {
                self.remove(&path)?;
            }
        }
        for path in self.files("lease")?.iter().filter(|path| path.with_extension("job").exists()) {
            self.remove_lease(path)?;
        }
        Ok(())
    }

    /// Incomplete files, each with the job that it was to become.
    fn temporaries(&self) -> Result<Vec<(PathBuf, PathBuf)>, ProveError> {
        // The name of the job, a random part and the extension.
        let with_job = |path: PathBuf| {
            let job = path.with_extension("").with_extension("");
            file::is_temporary_of(path.file_name()?, &job).then_some((path, job))
        };
        Ok(self.files("tmp")?.into_iter().filter_map(with_job).collect())
    }

    /// Removes a lease, which nobody may hold or whose work is done.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub(super) fn remove_lease(&self, path: &Path) -> Result<(), ProveError> {
        file::remove_own(path, FileContent::Lease).map_err(ProveError::io(path))
    }

    /// Files in the directory of jobs with this extension, sorted by name.
    fn files(&self, extension: &str) -> Result<Vec<PathBuf>, ProveError> {
        let jobs = self.jobs();
        let mut paths = Vec::new();
        for entry in fs::read_dir(&jobs).map_err(ProveError::io(&jobs))? {
            let path = entry.map_err(ProveError::io(&jobs))?.path();
            if path.extension().is_some_and(|found| found == extension) {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths)
    }

    /// Writes the file of a job, and replaces an older one of the same test.
    ///
    /// # Errors
    /// If it cannot be written; the older one stays then.
    pub(super) fn write(&self, job: &Job, claims: &JobClaims) -> Result<(), ProveError> {
        let path = self.job_path(&job.test);
        let head = Head {
            work: self.work(),
            position: rows(&job.test.position, ",", "/"),
            score: job.test.score,
            bounds: job.bounds.map(|bounds| [bounds.lower, bounds.upper]),
            budget: job.budget,
            nodes: job.nodes,
            seconds: job.seconds,
            searched: claims.parts[0],
            one_ply: claims.parts[1],
            digest: blake3::hash(&claims.bytes).to_hex().to_string(),
        };
        let write = |file: &mut file::Replacement| {
            file.write_all(&JOB.line(&head)?)?;
            file.write_all(&claims.bytes)
        };
        file::replace(&path, Some(FileContent::State), write).map_err(ProveError::io(&path))
    }

    /// Reads the file of a job, with its claims.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or belongs to another proof.
    pub(crate) fn read(&self, path: &Path) -> Result<(Job, Claims), ProveError> {
        let size = fs::metadata(path).map_err(ProveError::io(path))?.len();
        let damaged = |what: &str| ProveError::from(StateError::damaged(path, what));
        if size > MOST_JOB_BYTES {
            return Err(damaged("it is too large for a job"));
        }
        let bytes = file::read(path).map_err(ProveError::io(path))?;
        let end = bytes.iter().position(|&byte| byte == b'\n').ok_or_else(|| damaged("its first line has no end"))?;
        let (line, rest) = bytes.split_at(end + 1);
        let head: Head = JOB.parse(line).map_err(|error| match error {
            // Only jobs have such a name here.
            DocumentError::Foreign(_) => StateError::damaged(path, error),
            error => StateError::document(path)(error),
        })?;
        StateError::unless_same(path, &head.work, &self.work())?;
        if blake3::hash(rest).to_hex().as_str() != head.digest {
            return Err(damaged("its claims were changed or damaged"));
        }
        let position: Option<Position> = head.position.parse().ok();
        let pits = self.plan.request.position.pits();
        let test = position.filter(|position| position.pits() == pits).map(|position| Test::new(&position, head.score));
        let test = test.filter(|test| *path == self.job_path(test)).ok_or_else(|| damaged("it has the wrong name"))?;
        let bounds = head.bounds.map(|[lower, upper]| Bounds { lower, upper });
        let is_answer = |bounds| test.decided_by(bounds).is_some_and(|answer| test.bounds(answer) == bounds);
        if bounds.is_some_and(|bounds| {
            bounds.lower > bounds.upper || bounds.upper > test.position.seeds() || !is_answer(bounds)
        }) {
            return Err(damaged("its bounds are not those of an answer of its test"));
        }
        if !(head.seconds.is_finite() && head.seconds >= 0.0) {
            return Err(damaged("its time is impossible"));
        }
        let claims = Claims::of_job(pits, [head.searched, head.one_ply], rest);
        let claims = claims.ok_or_else(|| damaged("its claims are invalid"))?;
        let Head { budget, nodes, seconds, .. } = head;
        Ok((Job { test, bounds, budget, nodes, seconds }, claims))
    }

    /// Removes a file if it exists. A job whose file is removed is run again.
    ///
    /// # Errors
    /// If the file exists and cannot be removed.
    pub(crate) fn remove(&self, path: &Path) -> Result<(), ProveError> {
        file::found(fs::remove_file(path)).map_err(ProveError::io(path))?;
        Ok(())
    }

    /// The lease of the certificate: the file by which a process shows that it collects the claims.
    pub(crate) fn certificate_lease_path(&self) -> PathBuf {
        self.path.join("certificate.lease")
    }

    /// Default path of the certificate.
    pub fn certificate_path(&self) -> PathBuf {
        let position = &self.plan.request.position;
        let name = format!("{}-{}.certificate", self.plan.request.rules, rows(position, ".", "_"));
        self.path.join(name)
    }
}

impl Proof {
    fn of(plan: &ProofPlan) -> Proof {
        let ProofPlan { request, effort, tables, parts } = plan;
        Proof {
            request: *request,
            effort: *effort,
            tables: tables.iter().map(|digest| blake3::Hash::from_bytes(*digest).to_hex().to_string()).collect(),
            parts: parts.iter().map(|part| ProofPart { moves: part.moves.clone(), aim: part.aim }).collect(),
            program: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    fn plan(self) -> Option<ProofPlan> {
        let Proof { request, effort, tables, parts, .. } = self;
        let digest = |text: String| Some(*blake3::Hash::from_hex(text).ok()?.as_bytes());
        let tables = tables.into_iter().map(digest).collect::<Option<_>>()?;
        let parts = parts.into_iter().map(|part| request.part(part.moves, part.aim)).collect::<Option<_>>()?;
        Some(ProofPlan { request, effort, tables, parts })
    }
}
