import { lazy } from 'react'

// Each dialog is loaded when it first opens.
export const GrantAccessDialog = lazy(async () => ({ default: (await import('./grant-access.tsx')).GrantAccessDialog }))
export const CompleteDialog = lazy(async () => ({ default: (await import('./complete.tsx')).CompleteDialog }))
