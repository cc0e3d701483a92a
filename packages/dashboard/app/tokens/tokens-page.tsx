import { Button } from '@mantine/core'
import { useNavigate, useRouteContext, useSearch } from '@tanstack/react-router'
import { type ComponentProps, type ComponentType, type ReactNode, Suspense } from 'react'
import { ForAdmins } from '../ui/for-admins.tsx'
import { IconPlus } from '../ui/icons.ts'
import { Page } from '../ui/page.tsx'
import { ShownWhenMade, useMade } from './shown-when-made.tsx'

/** One kind of tokens, for admins: their list, the dialog that creates one, and the new token, which is shown once. */
export function TokensPage<Made>(props: {
  title: string
  description: string
  newLabel: string
  CreateDialog: ComponentType<{ onClose: () => void; onMade: (made: Made) => void }>
  /** What to show of the new token; null when locking the keyring has cleared it. */
  shownOnce: (made: Made | null) => Omit<ComponentProps<typeof ShownWhenMade>, 'made'>
  children: ReactNode
}) {
  const { title, description, newLabel, CreateDialog, shownOnce, children } = props
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
    <Page title={title} description={description} actions={org.role !== 'member' && newButton}>
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
