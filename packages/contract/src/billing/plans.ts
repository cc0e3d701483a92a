/** The metrics of an organization, each with its label and the family of plans that includes an amount of it. */
export const metrics = {
  members: { label: 'Members', family: 'platform', per: 'total' },
  apps: { label: 'Applications', family: 'platform', per: 'total' },
  environments: { label: 'Environments', family: 'platform', per: 'total' },
  branches: { label: 'Branches', family: 'platform', per: 'total' },
  secrets: { label: 'Secrets', family: 'platform', per: 'total' },
  service_tokens: { label: 'Service tokens', family: 'platform', per: 'total' },
  honey_tokens: { label: 'Decoys', family: 'platform', per: 'total' },
  resolves: { label: 'Resolves this month', family: 'platform', per: 'month' },
  audit_days: { label: 'Days of audit log', family: 'platform', per: 'days' },
  'sync.connections': { label: 'Sync connections', family: 'platform', per: 'total' },
  'leases.active': { label: 'Active leases', family: 'platform', per: 'total' },
  'rotation.policies': { label: 'Rotation policies', family: 'platform', per: 'total' },
  'kms.keys': { label: 'Managed keys', family: 'platform', per: 'total' },
  agents: { label: 'Agents', family: 'platform', per: 'total' },
  'vault.projects': { label: 'Vault projects', family: 'vault', per: 'total' },
  'vault.connections.max': { label: 'Vault connections', family: 'vault', per: 'total' },
  'vault.releases': { label: 'Vault releases this month', family: 'vault', per: 'month' },
} as const satisfies Record<string, { label: string; family: Family; per: 'total' | 'month' | 'days' }>

/** The features that a plan may have. In the API their keys begin with `feature.`. */
export const features = {
  honey_tokens: { label: 'Decoys', family: 'platform' },
  change_approval: { label: 'Approval of changes', family: 'platform' },
  recovery: { label: 'Recovery', family: 'platform' },
  log_sink: { label: 'Log sink', family: 'platform' },
  agents: { label: 'Agents', family: 'platform' },
  sync: { label: 'Third-party sync', family: 'platform' },
  vault: { label: 'Credential vault', family: 'vault' },
} as const satisfies Record<string, { label: string; family: Family }>

export const families = ['platform', 'vault'] as const

export type Family = (typeof families)[number]
export type Metric = keyof typeof metrics
/** Metrics that the server counts at each use, and adds up by month. */
export type MonthlyMetric = { [M in Metric]: (typeof metrics)[M]['per'] extends 'month' ? M : never }[Metric]
export type Feature = keyof typeof features

export interface Plan {
  family: Family
  id: string
  name: string
  /** Amounts by metric of the family. null means unlimited. */
  included: Partial<Record<Metric, number | null>>
  features: readonly Feature[]
}

const unlimited = null

/** Every plan, by family from the free plan up: a later plan of a family is the higher one. */
const plans: readonly Plan[] = [
  {
    family: 'platform',
    id: 'free',
    name: 'Free',
    included: {
      members: 5,
      apps: 5,
      environments: 20,
      branches: 10,
      secrets: 1000,
      service_tokens: 20,
      honey_tokens: 0,
      resolves: 100_000,
      audit_days: 30,
      'sync.connections': 1,
      'leases.active': 10,
      'rotation.policies': 3,
      'kms.keys': 3,
      agents: 1,
    },
    features: ['recovery', 'agents', 'sync'],
  },
  {
    family: 'platform',
    id: 'team',
    name: 'Team',
    included: {
      members: 50,
      apps: 50,
      environments: 250,
      branches: 250,
      secrets: 25_000,
      service_tokens: 500,
      honey_tokens: 50,
      resolves: 10_000_000,
      audit_days: 365,
      'sync.connections': 25,
      'leases.active': 500,
      'rotation.policies': 100,
      'kms.keys': 50,
      agents: 25,
    },
    features: ['honey_tokens', 'change_approval', 'recovery', 'agents', 'sync'],
  },
  {
    family: 'platform',
    id: 'business',
    name: 'Business',
    included: {
      members: unlimited,
      apps: unlimited,
      environments: unlimited,
      branches: unlimited,
      secrets: unlimited,
      service_tokens: unlimited,
      honey_tokens: unlimited,
      resolves: unlimited,
      audit_days: unlimited,
      'sync.connections': unlimited,
      'leases.active': unlimited,
      'rotation.policies': unlimited,
      'kms.keys': unlimited,
      agents: unlimited,
    },
    features: ['honey_tokens', 'change_approval', 'recovery', 'log_sink', 'agents', 'sync'],
  },
  {
    family: 'vault',
    id: 'free',
    name: 'Vault Free',
    included: { 'vault.projects': 1, 'vault.connections.max': 100, 'vault.releases': 10_000 },
    features: ['vault'],
  },
  {
    family: 'vault',
    id: 'pro',
    name: 'Vault Pro',
    included: { 'vault.projects': 20, 'vault.connections.max': 50_000, 'vault.releases': unlimited },
    features: ['vault'],
  },
]

/** Plans of a family, the lowest first. The first one is free. */
export const plansOf = (family: Family): readonly Plan[] => plans.filter((plan) => plan.family === family)

/** Finds a plan by its family and id. Undefined if there is none. */
export const findPlan = (family: string, id: string): Plan | undefined =>
  plans.find((plan) => plan.family === family && plan.id === id)
