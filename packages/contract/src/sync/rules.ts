import type { SyncConfig, SyncDestination, SyncTag } from './providers.ts'

type Places = { [T in SyncTag]: SyncConfig<T> | SyncDestination<T> }[SyncTag]

/**
 * Returns why a connection’s config or a binding’s destination is invalid, or null if it is valid. It checks rules
 * between fields; the schemas check each field alone. The reason begins with the path of the field.
 *
 * @example syncProblem({ provider: 'agent-platform', region: 'eu', baseUrl }) // 'baseUrl: not together with a region'
 */
export function syncProblem(value: Places): string | null {
  switch (value.provider) {
    case 'frontend-cloud':
      return 'targets' in value && value.gitBranch !== undefined && value.targets.join() !== 'preview'
        ? 'gitBranch: only with preview as the one target'
        : null
    case 'site-host':
      return 'contexts' in value && value.contexts.includes('branch') !== (value.branch !== undefined)
        ? 'branch: needed for the context branch, and only there'
        : null
    case 'cloud-a-secrets-manager':
      return 'layout' in value ? bundleProblem(value, 'secretName', 'pathPrefix') : null
    case 'cloud-a-parameter-store':
      return 'type' in value && value.type === 'String' && value.kmsKeyId !== undefined
        ? 'kmsKeyId: only for the type SecureString'
        : null
    case 'cloud-b-secret-manager':
      return 'layout' in value ? (bundleProblem(value, 'secretId', 'idPrefix') ?? replicationProblem(value)) : null
    case 'code-host-ci':
      return 'kind' in value && value.kind === 'org' ? visibilityProblem(value) : null
    case 'agent-platform':
      return 'baseUrl' in value && value.baseUrl !== undefined && value.region !== undefined
        ? 'baseUrl: not together with a region'
        : null
    case 'ai-agent-vaults':
      return 'vaultId' in value ? hostsProblem(value) : null
    default:
      return null
  }
}

function bundleProblem<B extends string, P extends string>(
  destination: { layout: 'secret-per-name' | 'json-bundle' } & { [F in B | P]?: string },
  bundle: B,
  prefix: P,
): string | null {
  if (destination.layout === 'json-bundle') {
    if (destination[bundle] === undefined) return `${bundle}: needed for the layout json-bundle`
    return destination[prefix] === undefined ? null : `${prefix}: only for the layout secret-per-name`
  }
  return destination[bundle] === undefined ? null : `${bundle}: only for the layout json-bundle`
}

/**
 * Checks the location of the key. Automatic replication needs a global key, and a single location needs a key in it.
 */
function replicationProblem(destination: SyncDestination<'cloud-b-secret-manager'>): string | null {
  const { replication, locations, kmsKeyName } = destination
  if (replication === 'automatic' && locations !== undefined) return 'locations: only for user-managed replication'
  if (replication === 'user-managed' && locations === undefined) return 'locations: needed for user-managed replication'
  if (kmsKeyName === undefined) return null
  if (locations !== undefined && locations.length > 1) return 'kmsKeyName: only with automatic or a single location'
  const [wanted = 'global'] = locations ?? []
  return kmsKeyName.split('/')[3] === wanted ? null : `kmsKeyName: must be a key in the location ${wanted}`
}

function visibilityProblem({ visibility, selectedRepositoryIds }: Organization): string | null {
  if (visibility === 'selected')
    return selectedRepositoryIds === undefined ? 'selectedRepositoryIds: needed for the visibility selected' : null
  return selectedRepositoryIds === undefined ? null : 'selectedRepositoryIds: only for the visibility selected'
}

type Organization = Extract<SyncDestination<'code-host-ci'>, { kind: 'org' }>

function hostsProblem({ allowedHosts, allowedHostsByName = {} }: SyncDestination<'ai-agent-vaults'>): string | null {
  if (allowedHosts === undefined && Object.keys(allowedHostsByName).length === 0)
    return 'allowedHosts: needed, or allowedHostsByName'
  const mixed = [['allowedHosts', allowedHosts ?? []] as const, ...Object.entries(allowedHostsByName)].find(
    ([, hosts]) => Array.isArray(hosts) && hosts.length > 1 && hosts.includes('unrestricted'),
  )
  return mixed === undefined ? null : `${mixed[0]}: unrestricted stands alone`
}
