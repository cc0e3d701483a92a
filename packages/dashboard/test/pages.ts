import { limits } from '@skerry/contract/limits'
import type { Page } from 'playwright-core'
import * as steps from './page-steps.ts'
import type { Filled, Site } from './site.ts'
import { unlockWithPasskey } from './steps.ts'

/** A page or an open dialog, as one visitor sees it. Used for accessibility checks and screenshots. */
export interface PageRow extends Row {
  as: keyof Site['visitors']
  /** Which team's IDs its address uses: with ordinary or with long names. */
  of: 'ordinary' | 'long'
}

interface Row {
  name: string
  path: string | ((at: Filled) => string)
  /** A text that the page shows after it has loaded. */
  shows: string
  /** Moves the clock forward by so many seconds first. */
  laterSeconds?: number
  /** Whether the keyring is unlocked. */
  unlocked?: boolean
  /** A step that runs after the page has loaded. */
  step?: (page: Page, site: Site) => Promise<unknown>
}

/** The pages before signing in. */
const entrances: Row[] = [
  { name: 'set-up', path: '/set-up#token', shows: 'Your e-mail' },
  { name: 'set-up-no-link', path: '/set-up', shows: 'Open the complete link' },
  { name: 'sign-in', path: '/sign-in', shows: 'Mail me a link' },
  { name: 'sign-in-link', path: '/sign-in/link#token', shows: 'It works once' },
  { name: 'sign-in-sent', path: '/sign-in', shows: 'Mail me a link', step: steps.askForLink },
  { name: 'sign-in-unreachable', path: '/sign-in', shows: 'Mail me a link', step: steps.loseServer(steps.askForLink) },
]

/** The pages of a person without an organization and without a key. */
const beginnings: Row[] = [
  { name: 'welcome', path: '/', shows: 'You are in no organization yet' },
  { name: 'new-organization', path: '/', shows: 'Welcome', step: steps.press('New organization') },
  { name: 'keyring-new', path: '/account/keyring', shows: 'Make the keyring' },
  { name: 'signing-in-nothing', path: '/account/signing-in', shows: 'Authenticator app' },
  { name: 'recovery-codes', path: '/account/signing-in', shows: 'Authenticator app', step: steps.enrol },
]

/** Pages with empty lists. */
const empties: Row[] = [
  { name: 'applications-empty', path: '/orgs/acme-co/apps', shows: 'No application yet' },
  { name: 'application-empty', path: '/orgs/harbour/apps/billing', shows: 'No environment yet' },
  { name: 'groups-empty', path: '/orgs/acme-co/groups', shows: 'No group yet' },
  { name: 'changes-empty', path: '/orgs/acme-co/changes', shows: 'No change waits for approval' },
  { name: 'members-empty', path: '/orgs/acme-co/members', shows: 'No one is invited' },
  { name: 'teams-empty', path: '/orgs/acme-co/teams', shows: 'No team yet' },
  { name: 'requests-empty', path: '/orgs/acme-co/requests', shows: 'Nobody asks for access' },
  { name: 'welcome-steps', path: '/orgs/acme-co/welcome', shows: 'Save your recovery kit' },
  { name: 'tokens-empty', path: '/orgs/acme-co/tokens', shows: 'No service token yet' },
  { name: 'honey-tokens-empty', path: '/orgs/acme-co/honey-tokens', shows: 'No decoy yet' },
  { name: 'leases-empty', path: '/orgs/acme-co/leases', shows: 'No lease yet' },
  { name: 'targets-empty', path: '/orgs/acme-co/leases/targets', shows: 'No target yet' },
  { name: 'managed-keys-empty', path: '/orgs/acme-co/kms', shows: 'No managed key yet' },
  { name: 'recovery-empty', path: '/orgs/acme-co/recovery', shows: 'Recovery is not set up' },
  { name: 'recovery-forgot', path: '/orgs/acme-co/recovery/forgot', shows: 'Recovery is not set up here' },
  {
    name: 'recovery-new',
    path: '/orgs/acme-co/recovery',
    shows: 'Recovery is not set up',
    step: steps.press('Set it up'),
  },
  { name: 'plan', path: '/orgs/acme-co/plan', shows: 'Resolves this month' },
  { name: 'rotation-empty', path: '/orgs/acme-co/rotation', shows: 'Nothing is rotated yet' },
  { name: 'sync-empty', path: '/orgs/acme-co/sync', shows: 'No environment is synced yet' },
  { name: 'connections-empty', path: '/orgs/acme-co/sync/connections', shows: 'No connection yet' },
  { name: 'runs-empty', path: '/orgs/acme-co/sync/runs', shows: 'Nothing was pushed yet' },
  { name: 'log-sink-empty', path: '/orgs/acme-co/log-sink', shows: 'No log sink yet' },
  { name: 'audit-nothing', path: '/orgs/acme-co/audit?action=token.deleted', shows: 'Clear' },
]

const ofAccount: Row[] = [
  { name: 'keyring', path: '/account/keyring', shows: 'Passphrase and key pair' },
  { name: 'signing-in', path: '/account/signing-in', shows: 'Authenticator app' },
  { name: 'cli-sessions', path: '/account/cli-sessions', shows: 'CLI sessions' },
  { name: 'invitations', path: '/account/invitations', shows: 'No invitation waits' },
  { name: 'notifications', path: '/account/notifications', shows: 'you are invited' },
  { name: 'cli-code', path: '/cli', shows: 'Enter the code' },
  { name: 'cli-approval', path: '/cli', shows: 'Enter the code', step: steps.openRequest },
  { name: 'unlock', path: '/account/keyring', shows: 'Print the copy', step: steps.unlock },
  { name: 'unlock-kit', path: '/account/keyring', shows: 'Print the copy', step: steps.useKit },
  {
    name: 'kit-new',
    path: '/account/keyring',
    shows: 'Print the copy',
    unlocked: true,
    step: steps.press('Make a kit…'),
  },
  { name: 'palette', path: '/orgs/harbour', shows: 'Changed', step: steps.openPalette },
  { name: 'account-menu', path: '/orgs/harbour', shows: 'Changed', step: steps.openAccountMenu },
  { name: 'switcher', path: '/orgs/harbour', shows: 'Changed', step: steps.press('Harbour') },
  { name: 'navigation', path: '/orgs/harbour', shows: 'Changed', step: steps.openNavigation },
  { name: 'no-such-page', path: '/account/none', shows: 'There is no such page' },
  { name: 'no-such-application', path: '/orgs/harbour/apps/none', shows: 'There is no such page' },
  {
    name: 'server-lost',
    path: '/orgs/harbour',
    shows: 'Changed',
    step: steps.loseServer(steps.goToMembers),
  },
]

/** Filled pages. They are shown with ordinary and with long names. */
const filled: Row[] = [
  { name: 'applications', path: at('apps'), shows: 'Changed' },
  { name: 'matrix', path: appOf, shows: 'missing', unlocked: true, step: steps.revealOne },
  { name: 'groups', path: at('groups'), shows: 'Changed' },
  { name: 'group', path: groupOf, shows: 'Add secret', unlocked: true },
  { name: 'environment', path: envOf, shows: 'Re-key the environment' },
  { name: 'composition', path: envPart('composition'), shows: 'Add a group' },
  { name: 'branches', path: envPart('branches'), shows: 'Forked' },
  { name: 'protection', path: envPart('protection'), shows: 'Stop protecting' },
  { name: 'environment-settings', path: envPart('settings'), shows: 'Rename…' },
  { name: 'application-settings', path: (place) => `${appOf(place)}/settings`, shows: 'Rename…' },
  { name: 'application-environments', path: appPart('environments'), shows: 'need approval' },
  { name: 'application-changes', path: appPart('changes'), shows: 'open' },
  { name: 'application-access', path: appPart('access'), shows: 'Holder' },
  { name: 'application-sync', path: appPart('sync'), shows: 'Fly.io' },
  { name: 'application-activity', path: appPart('activity'), shows: 'What happened' },
  { name: 'get-started', path: at('start'), shows: 'Invite your team' },
  { name: 'branch', path: branchOf, shows: 'a branch of' },
  { name: 'changes', path: at('changes'), shows: 'open' },
  { name: 'change', path: changeOf, shows: 'Unlock to compare', unlocked: true, step: steps.press('Reveal values') },
  { name: 'members', path: at('members'), shows: 'not compared' },
  { name: 'teams', path: at('teams'), shows: 'Complete' },
  { name: 'team', path: crewOf, shows: 'have the key' },
  { name: 'team-people', path: crewPart('people'), shows: '1 key waiting' },
  { name: 'team-settings', path: crewPart('settings'), shows: 'Rename…' },
  { name: 'requests', path: at('requests'), shows: 'On call' },
  { name: 'access', path: at('access'), shows: 'Can read' },
  { name: 'access-by-environment', path: at('access?by=environment'), shows: 'Can be read by' },
  { name: 'tokens', path: at('tokens'), shows: 'In use' },
  { name: 'clients', path: at('clients'), shows: 'New machine client' },
  { name: 'honey-tokens', path: at('honey-tokens'), shows: 'once' },
  { name: 'leases', path: at('leases'), shows: 'ends in' },
  { name: 'targets', path: at('leases/targets'), shows: 'SSH certificates', step: steps.openDetails },
  { name: 'rotation', path: at('rotation'), shows: 'every 30 days' },
  { name: 'sync', path: at('sync'), shows: 'Fly.io' },
  { name: 'connections', path: at('sync/connections'), shows: 'Fly.io' },
  { name: 'runs', path: at('sync/runs'), shows: 'a request', step: steps.openRun },
  { name: 'audit', path: at('audit'), shows: 'Person or token', step: steps.openEntry },
  { name: 'log-sink', path: at('log-sink'), shows: 'Last attempt' },
  { name: 'settings', path: at('settings'), shows: 'Name of the organization' },
  { name: 'settings-security', path: at('settings/security'), shows: 'Every member needs a second factor' },
  { name: 'settings-export', path: at('settings/export'), shows: 'Contents of an archive' },
  { name: 'directory', path: at('directory'), shows: 'This browser has no pin' },
  { name: 'delete-application', path: at('apps'), shows: 'Changed', step: steps.choose('Delete…') },
  { name: 'secret', path: appOf, shows: 'missing', unlocked: true, step: steps.openSecret },
  { name: 'grant', path: envOf, shows: 'Grant access', unlocked: true, step: steps.pickGrantee },
]

/** Dialogs and other states of filled pages. */
const dialogs: Row[] = [
  { name: 'matrix-locked', path: appOf, shows: 'missing' },
  { name: 'matrix-broken', path: appOf, shows: 'missing', unlocked: true, step: steps.showBroken },
  { name: 'matrix-edit', path: appOf, shows: 'missing', unlocked: true, step: steps.beginEdit },
  { name: 'matrix-column', path: appOf, shows: 'missing', step: steps.press('Actions for Staging') },
  { name: 'secret-edit', path: appOf, shows: 'missing', unlocked: true, step: steps.editSecret },
  { name: 'secret-new', path: appOf, shows: 'missing', step: steps.press('Add secret') },
  { name: 'paste', path: appOf, shows: 'missing', unlocked: true, step: steps.paste },
  { name: 'download', path: appOf, shows: 'missing', unlocked: true, step: steps.download },
  { name: 'deleted', path: appOf, shows: 'missing', unlocked: true, step: steps.press('Deleted') },
  { name: 'bulk', path: appOf, shows: 'missing', unlocked: true, step: steps.selectAll },
  { name: 'bulk-copy', path: appOf, shows: 'missing', unlocked: true, step: steps.copySelected },
  { name: 'bulk-delete', path: appOf, shows: 'missing', unlocked: true, step: steps.deleteSelected },
  { name: 'copy-column', path: appOf, shows: 'missing', unlocked: true, step: steps.copyColumn },
  { name: 'application-new', path: at('apps'), shows: 'Changed', step: steps.press('New application') },
  { name: 'protect', path: envPart('protection'), shows: 'Stop protecting', step: steps.press('Change') },
  { name: 'compose', path: envPart('composition'), shows: 'Add a group', step: steps.press('Add a group') },
  { name: 'fork', path: envPart('branches'), shows: 'Fork a branch', step: steps.press('Fork a branch') },
  { name: 'rekey', path: envOf, shows: 'Re-key the environment', step: steps.press('Re-key') },
  { name: 'invite', path: at('members'), shows: 'not compared', step: steps.press('Invite') },
  { name: 'member-compare', path: at('members'), shows: 'not compared', step: steps.choose('Compare the key…') },
  { name: 'member-remove', path: at('members'), shows: 'not compared', step: steps.choose('Remove…') },
  { name: 'member-offboard', path: at('members'), shows: 'not compared', step: steps.choose('Offboard…') },
  { name: 'team-new', path: at('teams'), shows: 'Complete', step: steps.press('New team') },
  { name: 'team-add', path: crewOf, shows: 'have the key', step: steps.press('Add people') },
  { name: 'team-complete', path: crewOf, shows: 'have the key', step: steps.openComplete },
  { name: 'grant-access', path: crewOf, shows: 'have the key', step: steps.openGrantAccess },
  { name: 'grant-to-token', path: at('tokens'), shows: 'In use', step: steps.choose('Grant access…') },
  { name: 'request-grant', path: at('requests'), shows: 'On call', step: steps.changeTime },
  { name: 'pass-on', path: at('requests'), shows: 'On call', step: steps.openGrant },
  { name: 'ask', path: at('requests'), shows: 'On call', step: steps.press('Ask for access') },
  { name: 'token-new', path: at('tokens'), shows: 'In use', step: steps.press('New token') },
  { name: 'token-shown', path: at('tokens'), shows: 'In use', unlocked: true, step: steps.makeToken },
  { name: 'access-new', path: at('leases'), shows: 'ends in', step: steps.press('Get access') },
  { name: 'target-new', path: at('leases/targets'), shows: 'SSH certificates', step: steps.press('New target') },
  { name: 'rotation-new', path: at('rotation'), shows: 'every 30 days', step: steps.press('New rotation') },
  { name: 'gallery', path: at('sync/connections'), shows: 'Fly.io', step: steps.press('Connect a destination') },
  { name: 'connect', path: at('sync/connections'), shows: 'Fly.io', step: steps.connectWorkers },
  { name: 'bind', path: at('sync'), shows: 'Fly.io', step: steps.press('Bind an environment') },
  { name: 'binding', path: at('sync'), shows: 'Fly.io', step: steps.editBinding },
  { name: 'push', path: at('sync'), shows: 'Fly.io', step: steps.pushNow },
  { name: 'log-sink-change', path: at('log-sink'), shows: 'Last attempt', step: steps.changeSink },
  { name: 'decoy-new', path: at('honey-tokens'), shows: 'once', step: steps.press('New decoy') },
]

const ofAgent: Row = { name: 'agent', path: agentOf, shows: 'Permitted but not used', step: steps.showLastDay }

/** Scenes for the long run only. */
const ofLongRun: Row[] = [
  { name: 'agents-empty', path: '/orgs/acme-co/agents', shows: 'No agent yet' },
  { name: 'agents', path: at('agents'), shows: 'version 1' },
  ofAgent,
  { name: 'agent-edit', path: at('agents'), shows: 'version 1', step: steps.choose('Edit…') },
  { name: 'agent-dispatch', path: agentOf, shows: 'Dispatch a task', step: steps.press('Dispatch a task') },
  { name: 'agent-task', path: agentOf, shows: 'Dispatch a task', step: steps.dispatch },
  { name: 'agent-policy', path: agentOf, shows: 'Edit the policy', step: steps.press('Edit the policy') },
  { name: 'vault-empty', path: '/orgs/acme-co/vault', shows: 'No vault project yet' },
  { name: 'vault-projects', path: at('vault'), shows: 'in use' },
  { name: 'vault-project', path: projectOf, shows: 'user-1', step: steps.openDeliveries },
  { name: 'vault-edit', path: projectOf, shows: 'user-1', step: steps.press('Edit…') },
]

const stepUp: Row = {
  name: 'step-up',
  path: '/cli',
  shows: 'Enter the code',
  laterSeconds: limits.mfaFreshSeconds + 1,
  step: steps.stepUp,
}

/** Pages of a person without the permission or the key. */
const notAllowed: Row[] = [
  { name: 'log-sink-not-allowed', path: at('log-sink'), shows: 'This is for owners and admins' },
  { name: 'leases-not-allowed', path: at('leases'), shows: 'This is for owners and admins' },
  { name: 'tokens-not-allowed', path: at('tokens'), shows: 'This is for owners and admins' },
  { name: 'matrix-part', path: appOf, shows: 'no key' },
  { name: 'group-no-key', path: groupOf, shows: 'You hold no key here' },
]

const historyOf = (as: PageRow['as'], rows: Row[]): PageRow[] => rows.map((row) => ({ ...row, as, of: 'ordinary' }))

/** All pages. */
export const pages: PageRow[] = [
  ...historyOf('stranger', entrances),
  ...historyOf('newcomer', beginnings),
  ...historyOf('owner', [...empties, ...ofAccount, ...filled, ...dialogs, ...ofLongRun]),
  ...[...filled, ofAgent].map((row): PageRow => ({ ...row, name: `${row.name}-long`, as: 'owner', of: 'long' })),
  ...historyOf('member', notAllowed),
  // The last row, because it moves the clock forward.
  ...historyOf('owner', [stepUp]),
]

export const desk = { width: 1280, height: 800 }

/** Opens a row and runs its step. Returns the page. */
export async function openPage(site: Site, row: PageRow): Promise<Page> {
  const { page, quiet } = site.visitors[row.as]
  await page.unrouteAll()
  await page.setViewportSize(desk)
  site.world.clock.advance(row.laterSeconds ?? 0)
  const path = typeof row.path === 'string' ? row.path : row.path(site[row.of])
  // Any other address loads the page again, but a change of the hash alone does not. The blank page in between forces a
  // load. A page of another site would cost a process each time.
  if (path.includes('#')) await page.goto('about:blank')
  await page.goto(path)
  await page.getByText(row.shows).first().waitFor()
  if (row.unlocked) await unlockWithPasskey(page)
  await row.step?.(page, site)
  await page.getByLabel('Loading').first().waitFor({ state: 'hidden' })
  await quiet()
  return page
}

function at(page: string) {
  return ({ team }: Filled) => `/orgs/${team.org.slug}/${page}`
}
function appOf(place: Filled) {
  return at(`apps/${place.team.app.slug}`)(place)
}
function appPart(part: string) {
  return (place: Filled) => `${appOf(place)}/${part}`
}
function groupOf(place: Filled) {
  return at(`groups/${place.team.group.slug}`)(place)
}
function envOf(place: Filled) {
  return at(`envs/${place.envId}`)(place)
}
function envPart(part: string) {
  return (place: Filled) => `${envOf(place)}/${part}`
}
function crewOf(place: Filled) {
  return at(`teams/${place.crewId}`)(place)
}
function crewPart(part: string) {
  return (place: Filled) => `${crewOf(place)}/${part}`
}
function branchOf(place: Filled) {
  return at(`envs/${place.branchId}`)(place)
}
function projectOf(place: Filled) {
  return at(`vault/${place.projectId}`)(place)
}
function agentOf(place: Filled) {
  return at(`agents/${place.team.agent.slug}`)(place)
}
function changeOf(place: Filled) {
  return at(`changes/${place.changeId}`)(place)
}
