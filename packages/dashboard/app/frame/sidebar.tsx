import { useHotkeys } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { NotLive } from '../live/not-live.tsx'
import { type NavBadge, type NavEntry, navGroups, startEntry, usableBy } from '../nav.ts'
import { useStart } from '../start/use-start.ts'
import { IconSearch, IconX } from '../ui/icons.ts'
import { useNavOrg } from '../use-nav-org.ts'
import { AccountMenu } from './account-menu.tsx'
import { useFrame } from './frame-context.ts'
import { KeyringState } from './keyring-state.tsx'
import { OrgSwitcher } from './org-switcher.tsx'

/** The navigation. It is a column of icons on a narrow screen, and covers the page on a phone, where the page is inert. */
export function Sidebar({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { find } = useFrame()
  useHotkeys([['Escape', onClose]], [])
  return (
    <>
      {isOpen && <button type="button" className="side-veil" aria-hidden tabIndex={-1} onClick={onClose} />}
      <nav className="side" aria-label="Main" data-open={isOpen || undefined}>
        <div className="side-top">
          <OrgSwitcher />
          {isOpen && (
            <button
              type="button"
              className="icon-button phone-only"
              aria-label="Close the navigation"
              // The page behind is inert, so the focus must not stay there.
              ref={takeFocus}
              onClick={onClose}
            >
              <IconX size={16} />
            </button>
          )}
        </div>
        <button type="button" className="side-find" onClick={find}>
          <IconSearch size={14} />
          <span className="side-label">Find or do</span>
          <kbd>Ctrl K</kbd>
        </button>
        <div className="side-entries">
          <OrgNav onClick={onClose} />
        </div>
        <div className="side-foot">
          <NotLive />
          <KeyringState />
          <AccountMenu />
        </div>
      </nav>
    </>
  )
}

const takeFocus = (button: HTMLButtonElement | null) => button?.focus()

/** The sections of the organization, in groups. */
function OrgNav({ onClick }: { onClick: () => void }) {
  const org = useNavOrg()
  const { isShown } = useStart(org?.id ?? '')
  if (!org) return null
  const groups = navGroups.map(({ label, entries }) => {
    const usable = usableBy(org.role, entries)
    if (usable.length === 0) return null
    return (
      // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form
      <div key={label} role="group" aria-label={label}>
        <div className="side-group" aria-hidden>
          {label}
        </div>
        {usable.map((entry) => (
          <Entry key={entry.to} {...{ entry, org, onClick }} />
        ))}
      </div>
    )
  })
  return (
    <>
      {isShown && <Entry entry={startEntry} {...{ org, onClick }} />}
      {groups}
    </>
  )
}

function Entry(props: { entry: NavEntry; org: { id: string; slug: string; role: string }; onClick: () => void }) {
  const { entry, org, onClick } = props
  const { label, icon: Icon, to, badge } = entry
  return (
    <Link to={to} params={{ org: org.slug }} className="side-entry" title={label} onClick={onClick}>
      <Icon size={16} strokeWidth={1.4} aria-hidden />
      <span className="side-label">{label}</span>
      {badge && !(badge.admins && org.role === 'member') && <EntryBadge badge={badge} orgId={org.id} />}
    </Link>
  )
}

function EntryBadge({ badge, orgId }: { badge: NavBadge; orgId: string }) {
  const { org } = useParams({ strict: false })
  const { data } = useQuery({
    queryKey: ['orgs', orgId, ...badge.key],
    queryFn: ({ signal }) => badge.load(orgId, signal),
    staleTime: 30_000,
    refetchInterval: badge.everyMs ?? false,
    // The account pages must not load data of an organization. It may require a second factor, which is set up on those
    // pages.
    enabled: org !== undefined,
  })
  if (!data) return null
  return (
    <span className="count" role="img" aria-label={`${data} ${badge.meaning}`}>
      {data}
    </span>
  )
}
