use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use kalah_base::file::{self, Document, FileLock, StateError};
use kalah_core::file::{found, read};
use kalah_core::game::Pit;
use serde::{Deserialize, Serialize};

use super::claims::{Claims, JobClaims};
use super::error::ProveError;
use super::request::{Aim, ProofPlan, Request};
use super::test::{Test, rows};

/// Format of the file that describes the proof.
const PROOF: Document = Document { format: "kalah proof", version: 3 };

/// Format of the first line of a job.
const JOB: Document = Document { format: "kalah job", version: 3 };

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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The test.
    #[serde(flatten)]
    pub test: Test,
    /// The proved answer of the test; `None` if the job ran over its budget.
    pub answer: Option<bool>,
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
    parts: Vec<(Vec<Pit>, Aim)>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    proof: String,
    #[serde(flatten)]
    job: Job,
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
        let Some(bytes) = found(read(&proof)).map_err(ProveError::io(&proof))? else { return Ok(None) };
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
        if let Some(directory) = ProofDirectory::open(path)? {
            return Ok(directory);
        }
        let plan = plan()?;
        // A proof too large for a certificate is rejected early.
        plan.statement(&[]).goals()?;
        let (proof, jobs) = (path.join("proof.json"), path.join("jobs"));
        fs::create_dir_all(&jobs).map_err(ProveError::io(&jobs))?;
        // Of several processes that begin it at once, the first determines the proof.
        PROOF.write_new(&proof, &Proof::of(&plan)).map_err(ProveError::io(&proof))?;
        Ok(ProofDirectory::open(path)?.ok_or_else(|| StateError::damaged(&proof, "it was removed"))?)
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
        Ok(FileLock::beside(&self.jobs()).map_err(StateError::from)?)
    }

    fn jobs(&self) -> PathBuf {
        self.path.join("jobs")
    }

    /// The file of a job.
    pub(super) fn job_path(&self, test: &Test) -> PathBuf {
        self.jobs().join(format!("{}-{}.job", rows(&test.position, ".", "_"), test.score))
    }

    /// Files of all jobs, sorted by name.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub(super) fn job_paths(&self) -> Result<Vec<PathBuf>, ProveError> {
        self.files("job")
    }

    /// Removes the incomplete files and the leases of killed processes. No other process may work in the directory.
    ///
    /// # Errors
    /// If the directory cannot be listed, or a file cannot be removed.
    pub(super) fn clean(&self) -> Result<(), ProveError> {
        let left = [self.files("lease")?, self.files("tmp")?, vec![self.certificate_lease_path()]].concat();
        left.iter().try_for_each(|path| self.remove(path))?;
        let proof = self.path.join("proof.json");
        file::remove_leftovers(&proof).map_err(ProveError::io(&proof))
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
        let [searched, one_ply] = claims.parts;
        let digest = blake3::hash(&claims.bytes).to_hex().to_string();
        let head = Head { proof: self.id.clone(), job: job.clone(), searched, one_ply, digest };
        let write = |file: &mut file::Replacement| {
            file.write_all(&JOB.line(&head)?)?;
            file.write_all(&claims.bytes)
        };
        file::replace(&path, write).map_err(ProveError::io(&path))
    }

    /// Reads the file of a job, with its claims; `None` if another process has removed it.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or belongs to another proof.
    pub(super) fn read(&self, path: &Path) -> Result<Option<(Job, Claims)>, ProveError> {
        let damaged = |what: &str| ProveError::from(StateError::damaged(path, what));
        let Some(bytes) = found(read(path)).map_err(ProveError::io(path))? else { return Ok(None) };
        let end = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| at + 1);
        let (line, rest) = bytes.split_at(end);
        // Only jobs have such a name here.
        let head: Head = JOB.parse(line).map_err(|error| StateError::damaged(path, error))?;
        let Head { proof, job, searched, one_ply, digest } = head;
        if proof != self.id {
            return Err(StateError::other(path, "proof", proof, &self.id).into());
        }
        if blake3::hash(rest).to_hex().as_str() != digest {
            return Err(damaged("its claims were changed or damaged"));
        }
        let (pits, test) = (self.plan.request.position.pits(), Test::new(&job.test.position, job.test.score));
        if test != job.test || test.position.pits() != pits || test.certain().is_some() || *path != self.job_path(&test)
        {
            return Err(damaged("its test is another one than that of its name"));
        }
        let claims = Claims::of_job(pits, [searched, one_ply], rest);
        Ok(Some((job, claims.ok_or_else(|| damaged("its claims are invalid"))?)))
    }

    /// Removes a file if it exists. A job whose file is removed is run again.
    ///
    /// # Errors
    /// If the file exists and cannot be removed.
    pub(super) fn remove(&self, path: &Path) -> Result<(), ProveError> {
        found(fs::remove_file(path)).map_err(ProveError::io(path))?;
        Ok(())
    }

    /// The lease of the certificate: the file by which a process shows that it collects the claims.
    pub(super) fn certificate_lease_path(&self) -> PathBuf {
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
            parts: parts.iter().map(|part| (part.moves.clone(), part.aim)).collect(),
        }
    }

    fn plan(self) -> Option<ProofPlan> {
        let Proof { request, effort, tables, parts } = self;
        let digest = |text: String| Some(*blake3::Hash::from_hex(text).ok()?.as_bytes());
        let tables = tables.into_iter().map(digest).collect::<Option<_>>()?;
        let parts = parts.into_iter().map(|(moves, aim)| request.part(moves, aim)).collect::<Option<_>>()?;
        Some(ProofPlan { request, effort, tables, parts })
    }
}
