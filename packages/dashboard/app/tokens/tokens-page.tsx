import { Button } from '@mantine/core'
import { useNavigate, useRouteContext, useSearch } from '@tanstack/react-router'
import { type ComponentProps, type ComponentType, type ReactNode, Suspense } from 'react'
import { ForAdmins } from '../ui/for-admins.tsx'
import { IconPlus } from '../ui/icons.ts'
import { Page } from '../ui/page.tsx'
import { ShownWhenMade, useMade } from './shown-when-made.tsx'

/**
 * The page of one kind of token, for admins. It has their list and the dialog that creates one, and shows the new token
 * once.
 */
export function TokensPage<Made>(props: {
  title: string
  newLabel: string
  CreateDialog: ComponentType<{ onClose: () => void; onMade: (made: Made) => void }>
  /** Returns how to show the new token. `made` is null if the keyring has locked and cleared it. */
  shownOnce: (made: Made | null) => Omit<ComponentProps<typeof ShownWhenMade>, 'made'>
  children: ReactNode
}) {
  const { title, newLabel, CreateDialog, shownOnce, children } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { create } = useSearch({ strict: false })
  const navigate = useNavigate()
  const made = useMade<Made>()
  const newButton = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => navigate({ to: '.', search: { create: true } })}>
      {newLabel}
    </Button>
  )
  return (
    <Page title={title} actions={org.role !== 'member' && newButton}>
      <ForAdmins>
        {children}
        <ShownWhenMade made={made} {...shownOnce(made.value)} />
        <Suspense>
          {create && !made.isShown && (
            <CreateDialog onClose={() => navigate({ to: '.', search: {} })} onMade={made.show} />
          )}
        </Suspense>
      </ForAdmins>
    </Page>
  )
}
