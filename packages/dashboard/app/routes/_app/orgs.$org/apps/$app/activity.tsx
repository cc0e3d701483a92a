import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { AppPage, useApp } from '../../../../../secrets/use-app.tsx'
import { Empty } from '../../../../../ui/empty.tsx'
import { ForAdmins } from '../../../../../ui/for-admins.tsx'

// Loaded with the table of sentences, so that the page appears sooner.
const Entries = lazy(async () => ({ default: (await import('../../../../../audit/entries.tsx')).Entries }))

export const Route = createFileRoute('/_app/orgs/$org/apps/$app/activity')({ component: Activity })

/** The audit log of the application, newest first. */
function Activity() {
  const { org } = Route.useRouteContext()
  const { app } = useApp()
  return (
    <AppPage part="Activity">
      <ForAdmins>
        <Suspense>
          <Entries
            filter={{ applicationId: app.id }}
            isOfApplication
            empty={
              <Empty title="Nothing happened yet" command={`skerry activity --app ${app.slug} --org ${org.slug}`}>
                Every change of this application’s secrets and environments shows up here.
              </Empty>
            }
          />
        </Suspense>
      </ForAdmins>
    </AppPage>
  )
}
