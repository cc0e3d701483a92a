import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { slugFrom } from './names.ts'

// `--branch auto` takes the branch whose slug is made from the name of the git branch. The files of git are read here,
// because starting git would take longer than the whole of `skerry run`.

export interface GitBranch {
  /** The name in git; undefined if no branch is checked out and no CI system names one. */
  name: string | undefined
  /** The slug of the branch in Skerry; undefined without a name, or if the name has no letter and no digit. */
  slug: string | undefined
}

/** The value of `--branch` and SKERRY_BRANCH that asks for the git branch. */
export const autoBranch = 'auto'

/**
 * Finds the branch of the git working folder around a folder. A CI job often checks out a commit without a branch.
 * `Feature/Log-In` gets the slug `feature-log-in`, and so can other git branches: they share a branch.
 */
export function findGitBranch(folder: string, environment: NodeJS.ProcessEnv): GitBranch {
  const name = checkedOut(folder) ?? namedByCi(environment)
  return { name, slug: name === undefined ? undefined : slugFrom(name) }
}

/** Says why `--branch auto` names no branch. */
export const whyNoBranch = ({ name }: GitBranch): string =>
  name === undefined
    ? 'no git branch is checked out here, so --branch auto names no branch'
    : `the git branch ${name} has no letter or digit, so --branch auto names no branch`

/** Reads HEAD of the repository or the linked worktree. It names a branch, or a commit if none is checked out. */
function checkedOut(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const gitFolder = gitFolderOf(join(at, '.git'))
    if (gitFolder !== undefined) {
      const name = /^ref: refs\/heads\/(.+)\n?$/.exec(textOf(join(gitFolder, 'HEAD')) ?? '')?.[1]
      // With the storage format `reftable`, the file has this name instead of the branch's.
      return name === '.invalid' ? undefined : name
    }
    if (dirname(at) === at) return undefined
  }
}

/** `.git` is a folder, or in a linked worktree and in a submodule a file that names the folder. */
function gitFolderOf(path: string): string | undefined {
  try {
    if (statSync(path).isDirectory()) return path
  } catch {
    return undefined
  }
  const target = /^gitdir: (.+?)\r?\n?$/.exec(textOf(path) ?? '')?.[1]
  return target === undefined ? undefined : resolve(dirname(path), target)
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/**
 * The variables in which CI systems give the name of the git branch. Of one system, the source branch of a pull request
 * comes first. A variable of the third column says that the job builds a tag.
 */
const ciVariables: readonly (readonly [system: string, variables: readonly string[], tag?: string])[] = [
  ['GitHub Actions', ['GITHUB_HEAD_REF', 'GITHUB_REF_NAME'], 'GITHUB_REF_TYPE'],
  ['GitLab CI', ['CI_MERGE_REQUEST_SOURCE_BRANCH_NAME', 'CI_COMMIT_REF_NAME'], 'CI_COMMIT_TAG'],
  ['Woodpecker CI', ['CI_COMMIT_SOURCE_BRANCH', 'CI_COMMIT_BRANCH']],
  ['Vercel', ['VERCEL_GIT_COMMIT_REF']],
  ['Buildkite', ['BUILDKITE_BRANCH'], 'BUILDKITE_TAG'],
  ['CircleCI', ['CIRCLE_BRANCH']],
  ['Bitbucket Pipelines', ['BITBUCKET_BRANCH']],
  ['Azure Pipelines', ['SYSTEM_PULLREQUEST_SOURCEBRANCH', 'BUILD_SOURCEBRANCH']],
  ['Jenkins', ['CHANGE_BRANCH', 'BRANCH_NAME', 'GIT_BRANCH'], 'TAG_NAME'],
  ['Travis CI', ['TRAVIS_PULL_REQUEST_BRANCH', 'TRAVIS_BRANCH'], 'TRAVIS_TAG'],
  ['Drone', ['DRONE_SOURCE_BRANCH', 'DRONE_BRANCH'], 'DRONE_TAG'],
  ['Semaphore', ['SEMAPHORE_GIT_PR_BRANCH', 'SEMAPHORE_GIT_BRANCH'], 'SEMAPHORE_GIT_TAG_NAME'],
  ['AppVeyor', ['APPVEYOR_PULL_REQUEST_HEAD_REPO_BRANCH', 'APPVEYOR_REPO_BRANCH'], 'APPVEYOR_REPO_TAG_NAME'],
  ['AWS CodeBuild', ['CODEBUILD_WEBHOOK_HEAD_REF']],
  ['AWS Amplify', ['AWS_BRANCH']],
  ['Bitrise', ['BITRISE_GIT_BRANCH']],
  ['Cirrus CI', ['CIRRUS_BRANCH'], 'CIRRUS_TAG'],
  ['Cloudflare Pages', ['CF_PAGES_BRANCH']],
  ['Railway', ['RAILWAY_GIT_BRANCH']],
  ['Render', ['RENDER_GIT_BRANCH']],
]

function namedByCi(environment: NodeJS.ProcessEnv): string | undefined {
  for (const [, variables, tag] of ciVariables) {
    const named = variables.map((variable) => environment[variable]).find(Boolean)
    if (named === undefined) continue
    return isTag(named, tag === undefined ? undefined : environment[tag])
      ? undefined
      : named.replace(/^(refs\/heads|refs\/remotes\/origin|origin)\//, '')
  }
}

/** GitHub Actions alone has a variable for the type, `tag` or `branch`. The others have one for the name of a tag. */
const isTag = (named: string, tag: string | undefined): boolean =>
  named.startsWith('refs/tags/') || (Boolean(tag) && tag !== 'branch')
