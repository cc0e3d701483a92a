import { lazy } from 'react'

// Each dialog is loaded when it first opens.
export const PolicyEditor = lazy(async () => ({ default: (await import('./policy-editor.tsx')).PolicyEditor }))
export const EditAgent = lazy(async () => ({ default: (await import('./edit-agent.tsx')).EditAgent }))
export const DispatchDialog = lazy(async () => ({ default: (await import('./dispatch-dialog.tsx')).DispatchDialog }))
export const NewTask = lazy(async () => ({ default: (await import('./new-task.tsx')).NewTask }))
