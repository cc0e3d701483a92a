import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * The release before this one, as a tag or a commit. Until there is one, it is the last commit of the main branch without
 * the signed directory.
 */
export const earlier = 'afaceaf1'

/** Why the sources of the earlier release are not here; undefined if they are. */
export function missingEarlier(root: string): string | undefined {
  const { status } = spawnSync('git', ['cat-file', '-e', `${earlier}^{commit}`], { cwd: root, stdio: 'ignore' })
  return status === 0 ? undefined : `the history has no ${earlier}: fetch it with \`git fetch --unshallow\``
}

/**
 * Writes the sources of the earlier release into a folder, where they run. They get the libraries of this checkout, because
 * installing the earlier ones needs a registry.
 */
export function writeEarlier(root: string, folder: string): void {
  mkdirSync(folder, { recursive: true })
  const archive = execFileSync('git', ['archive', earlier], { cwd: root, maxBuffer: 1024 ** 3 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  const link = (from: string, to: string) => {
    mkdirSync(dirname(to), { recursive: true })
    symlinkSync(from, to)
  }
  const libraries = readdirSync(join(root, 'node_modules')).filter((name) => name !== '@skerry')
  for (const name of libraries) link(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  for (const path of globSync('packages/*', { cwd: folder })) {
    const own = join(root, path, 'node_modules')
    if (existsSync(own)) link(own, join(folder, path, 'node_modules'))
    link(join(folder, path), join(folder, 'node_modules/@skerry', path.slice('packages/'.length)))
  }
}
